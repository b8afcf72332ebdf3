export const question = {
  title: 'Question',
} as const;
