export const mode = {
  mode: '模式',
  plan: '规划',
  build: '构建',
  planHint: '规划模式：只阅读和制定计划，除计划外不能写任何内容。',
  buildHint: '执行模式：执行已批准的计划，超出计划的操作会先询问。',
};
