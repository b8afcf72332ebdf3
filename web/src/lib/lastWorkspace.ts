// The workspace that new chats go to unless somebody says otherwise.
import { create } from 'zustand';
import type { Workspace } from '@/lib/api/types';
import { isDemo } from './demo';

const KEY = 'planwright.workspace';

export interface LastWorkspace {
  id: string | null;
}

/** The one last worked in, or just added. A new object each time, so that what was chosen before it can be told from what was chosen after. */
export const useLastWorkspace = create<{ last: LastWorkspace }>(() => ({ last: { id: localStorage.getItem(KEY) } }));

/** Samples are for looking around; nobody wants their next chat there. */
const isSample = ({ settings }: Workspace): boolean => typeof settings.model === 'string' && isDemo(settings.model);

export function rememberWorkspace(workspace: Workspace | undefined): void {
  if (!workspace || isSample(workspace)) return;
  localStorage.setItem(KEY, workspace.id);
  useLastWorkspace.setState({ last: { id: workspace.id } });
}

export function usualWorkspace(workspaces: Workspace[], last: LastWorkspace): Workspace | undefined {
  const real = workspaces.filter((one) => !isSample(one));
  return real.find(({ id }) => id === last.id) ?? real[0] ?? workspaces[0];
}
