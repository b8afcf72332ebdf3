export const signin = {
  title: '登录',
  hint: '打开 planwright serve 在“sign in at”之后打印的地址，其中带有令牌。也可以在此粘贴令牌。',
  token: '令牌',
  signIn: '登录',
  wrong: '这不是服务器的令牌。',
};
