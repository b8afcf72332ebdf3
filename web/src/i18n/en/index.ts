import { common } from './frame';
import { home } from './home';
import { chat } from './chat';
import { mode } from './mode';
import { signin } from './signin';
import { plan } from './plan';
import { question } from './question';
import { audit, timeline } from './audit';
import { workspace } from './workspace';
import { command } from './command';
import { start } from './start';
import { changes, context, files, panel } from './work';

export const en = { common, home, chat, mode, signin, plan, question, workspace, command, start, panel, changes, files, context, audit, timeline } as const;
