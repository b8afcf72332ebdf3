export const timeline = {
  title: '时间线',
};
