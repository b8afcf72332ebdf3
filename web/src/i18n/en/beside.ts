// Words of the panels beside a chat and of its other pages.
export { timeline } from './timeline';
export { changes, context, files } from './work';
