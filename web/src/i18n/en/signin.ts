export const signin = {
  title: 'Sign in',
} as const;
