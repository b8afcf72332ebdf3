// The panel beside the chat, and what the chat itself shows of changes and context.
export const panel = {
  tabs: 'What the panel shows',
  plan: 'Plan',
  version: 'v{revision}',
  changes: 'Changes',
  files: 'Files',
  context: 'Context',
  pages: 'Pages of the chat',
  chat: 'Chat',
  timeline: 'Timeline',
  lines: '{added} lines added, {removed} removed',
  takeBackHere: 'Take back changes from here on…',
  ring: 'Context: {share} full',
  ringHint: '{used} of {limit} tokens · {cost} so far',
} as const;
