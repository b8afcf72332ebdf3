export const home = {
  title: '对话',
};
