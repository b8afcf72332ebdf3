export const command = {
  new: 'New chat',
  home: 'All chats',
  addFolder: 'Add a folder as a workspace',
  settings: 'Settings',
  model: 'Set up or test a model',
  theme: 'Switch between light and dark',
  language: 'English / 中文',
  keys: 'Keyboard shortcuts',
} as const;
