// Words of the pages of a chat.
export { chat } from './chat';
export { chatCommand } from './chatCommand';
export { panel } from './panel';
export { plan } from './plan';
export { question } from './question';
export { switching } from './switching';
