// What can be done in a chat by its name.
export const chatCommand = {
  find: 'Find in this chat',
  findWants: 'words to look for',
  planPanel: 'Show the plan beside the chat',
  changes: 'Show changes beside the chat',
  files: 'Show the files beside the chat',
  context: 'Show what the model reads',
  allChanges: 'Open all changes as a page',
  timeline: 'Open the timeline',
  plan: 'Switch to Plan',
  build: 'Switch to Build',
  execute: 'Approve and execute the newest plan',
  stop: 'Stop the agent',
  compact: 'Summarize the conversation to make room',
  rename: 'Rename this chat',
  renameWants: 'the new title',
  role: 'Switch to {role}',
} as const;
