export const signin = {
  title: '登录',
};
