export const question = {
  title: '问题',
};
