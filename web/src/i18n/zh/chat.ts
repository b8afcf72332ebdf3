export const chat = {
  title: '对话',
};
