export const signin = {
  title: 'Sign in',
  hint: 'Open the address that planwright serve printed after “sign in at”: it carries the token. Or paste the token here.',
  token: 'Token',
  signIn: 'Sign in',
  wrong: 'This token is not the server’s.',
} as const;
