export const command = {
  new: '新对话',
  home: '所有对话',
  addFolder: '把文件夹添加为工作区',
  settings: '设置',
  model: '设置或测试模型',
  theme: '切换浅色和深色',
  language: 'English / 中文',
  keys: '键盘快捷键',
} as const;
