export const signin = {
  title: 'Sign in',
  tokenHint: 'Open the address that planwright serve printed after “sign in at”: it carries the token. Or paste the token here.',
  accountHint: 'With the account that this server’s keeper made for you.',
  token: 'Token',
  name: 'Name',
  password: 'Password',
  signIn: 'Sign in',
  signOut: 'Sign out',
  byAccount: 'Use a name and a password',
  byToken: 'Use a token',
  wrong: 'The server does not know this.',
} as const;
