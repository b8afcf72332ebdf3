// What a mode means, and leaving it. Only in a chat.
export const switching = {
  planHint: '规划模式：只阅读和制定计划，除计划外不能写任何内容。',
  buildHint: '构建模式：执行已批准的计划，超出计划的操作会先询问。没有计划时，按你的话去做；删除会先询问。',
  planRequired: '此工作区要求先批准计划，才能更改任何内容。',
  planRevised: '计划在你批准之后有改动。再次批准之前，不会更改任何内容。',
  planTakenBack: '更改已撤回到批准之前。再次批准计划之前，不会更改任何内容。',
  leaveTitle: '停止正在进行的工作？',
  leaveStep: '正在执行第 {number} 步（共 {total} 步）：{action}。',
  leaveQuestion: '有一个问题在等待你的回答。',
  leaveRun: '智能体正在工作。',
  leaveHint: '切换会立即停止它。已写入磁盘的更改会保留。',
  keepWorking: '继续工作',
  stopAndSwitch: '停止并切换',
  nowIn: '现在是{mode}模式，角色：{role}',
} as const;
