// Words of the pages of a chat.
export { chat } from './chat';
export { chatCommand } from './chatCommand';
export { plan } from './plan';
export { question } from './question';
export { switching } from './switching';
export { timeline } from './timeline';
export { changes, context, files, panel } from './work';
