export const approval = {};
