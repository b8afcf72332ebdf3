export const signin = {
  title: '登录',
  tokenHint: '打开 planwright serve 在“sign in at”之后打印的地址，其中带有令牌。也可以在此粘贴令牌。',
  accountHint: '使用服务器管理员为你创建的账号。',
  token: '令牌',
  name: '用户名',
  password: '密码',
  signIn: '登录',
  signOut: '退出登录',
  byAccount: '使用用户名和密码',
  byToken: '使用令牌',
  wrong: '服务器不认识这些信息。',
};
