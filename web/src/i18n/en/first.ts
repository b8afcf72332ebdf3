// Words that every page needs.
export { command } from './command';
export { common } from './frame';
export { composer } from './composer';
export { home } from './home';
export { mode } from './mode';
export { roles } from './roles';
