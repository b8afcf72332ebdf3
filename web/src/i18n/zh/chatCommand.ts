// What can be done in a chat by its name.
export const chatCommand = {
  find: '在本对话中查找',
  findWants: '要查找的文字',
  planPanel: '在对话旁显示计划',
  changes: '在对话旁显示更改',
  files: '在对话旁显示文件',
  context: '查看模型读到的内容',
  allChanges: '在单独页面查看全部更改',
  timeline: '打开时间线',
  plan: '切换到规划',
  build: '切换到构建',
  execute: '批准并执行最新的计划',
  stop: '停止智能体',
  compact: '总结对话以腾出空间',
  rename: '重命名本对话',
  renameWants: '新标题',
  role: '切换为{role}',
} as const;
