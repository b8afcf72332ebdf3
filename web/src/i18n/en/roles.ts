// The words of roles come from the server, which writes English: a language that is not English translates them.
export const roles = {} as const;
