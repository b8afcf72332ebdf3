export const plan = {
  title: '计划',
};
