import { common } from './frame';
import { home } from './home';
import { chat } from './chat';
import { mode } from './mode';
import { signin } from './signin';
import { plan } from './plan';
import { question } from './question';
import { workspace } from './workspace';
import type { Translation } from '..';

export const zh: Translation = { common, home, chat, mode, signin, plan, question, workspace };
