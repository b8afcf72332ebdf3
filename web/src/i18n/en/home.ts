export const home = {
  title: 'Chats',
} as const;
