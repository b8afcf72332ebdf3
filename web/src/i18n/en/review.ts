// Words of the page for changes and of approvals.
export { approval } from './approval';
export { changesPage } from './changesPage';
