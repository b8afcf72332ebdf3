// The panel beside the chat, and what the chat itself shows of changes and context.
export const panel = {
  tabs: '面板显示的内容',
  plan: '计划',
  version: 'v{revision}',
  changes: '更改',
  files: '文件',
  context: '上下文',
  pages: '对话的页面',
  chat: '对话',
  timeline: '时间线',
  lines: '新增 {added} 行，删除 {removed} 行',
  takeBackHere: '撤回从这里起所做的更改…',
  ring: '上下文已用 {share}',
  ringHint: '{used} / {limit} 个 token · 目前花费 {cost}',
};
