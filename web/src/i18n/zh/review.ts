export { approval } from './approval';
export { changesPage } from './changesPage';
