// 输入框的用语。
export const composer = {
  attach: '添加图片或文本文件',
  attachments: '附件',
  removeAttachment: '移除 {name}',
  tooMany: '无法添加 {name}。一条消息最多 8 个附件。',
  imageTooLarge: '无法添加 {name}。图片最大 5 MB。',
  fileTooLarge: '无法添加 {name}。文本文件最大 256 KB，更大的文件请放入工作区。',
  notText: '无法添加 {name}。它不是文本，也不是 PNG、JPEG、GIF 或 WebP 图片。',
  model: '模型',
  modelHint: '此对话使用的模型',
  usualModel: '默认：{model}',
  effort: '思考强度',
  effortHint: '模型回答前思考的程度。没有此设置的模型会忽略它。',
  usualEffort: '默认强度',
  low: '低强度',
  medium: '中强度',
  high: '高强度',
} as const;
