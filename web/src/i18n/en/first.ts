// Words that every page needs.
export { command } from './command';
export { common } from './frame';
export { home } from './home';
export { mode } from './mode';
export { signin } from './signin';
export { start } from './start';
export { workspace } from './workspace';
