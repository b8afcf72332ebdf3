import { pageWords } from '@/i18n';

/** They come with the palette. */
export const words = pageWords(
  {
    title: 'Commands and search',
    placeholder: 'A command, a chat, a file, or words that were said…',
    nothing: 'Nothing fits.',
    commands: 'Commands',
    chats: 'Chats',
    files: 'Files',
    newIn: 'New chat in',
    newInWorkspace: 'New chat in {workspace}',
    said: 'Said in chats',
    settings: 'Settings',
    searching: 'Searching…',
    failed: 'Search did not work: {why}',
    you: 'You',
    agent: 'Agent',
  },
  {
    title: '命令与搜索',
    placeholder: '命令、对话、文件，或说过的话…',
    nothing: '没有符合的。',
    commands: '命令',
    chats: '对话',
    files: '文件',
    newIn: '新对话',
    newInWorkspace: '在 {workspace} 中新建对话',
    said: '对话中说过的',
    settings: '设置',
    searching: '正在搜索…',
    failed: '搜索没有成功：{why}',
    you: '你',
    agent: '智能体',
  },
);
