// The words of roles come from the server, which writes English: a language that is not English translates them.
export const roles = {
  planner: '规划者',
  actor: '执行者',
  reviewer: '审查者',
  commander: '指挥者',
  designer: '设计者',
  tester: '测试者',
  plannerHint: '阅读和搜索工作区，写出计划供你批准。除此之外不做任何更改。',
  actorHint: '执行已批准的计划；删除以及超出计划的操作会先询问。没有计划时，按你的话去做。',
  reviewerHint: '阅读代码，按文件和行给出审查意见。不做任何更改。',
  commanderHint: '制定计划并把任务交给规划者或执行者，不论计划是否已批准。自己不改任何文件。',
  designerHint: '新建文件。从不更改或删除已有内容。',
  testerHint: '在源码只读的沙箱中运行测试，并报告结果。',
} as const;
