// Words of the composer, on home and in a chat.
export const composer = {
  attach: 'Attach images or text files',
  attachments: 'Attached',
  removeAttachment: 'Remove {name}',
  tooMany: 'Can’t attach {name}. A message takes at most 8 attachments.',
  imageTooLarge: 'Can’t attach {name}. An image can have at most 5 MB.',
  fileTooLarge: 'Can’t attach {name}. A text file can have at most 256 KB. Put larger files into the workspace.',
  notText: 'Can’t attach {name}. It is neither text nor a PNG, JPEG, GIF or WebP image.',
  model: 'Model',
  modelHint: 'The model of this chat',
  usualModel: 'Default: {model}',
  effort: 'Effort',
  effortHint: 'How much the model thinks before it answers. Models without this setting ignore it.',
  usualEffort: 'Default effort',
  low: 'Low effort',
  medium: 'Medium effort',
  high: 'High effort',
} as const;
