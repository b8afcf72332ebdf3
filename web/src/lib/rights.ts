// What the user may do in a workspace.
import { useWorkspaces } from './workspaces';

/** Not for a viewer, who may look at everything and change nothing. The server has the last word. */
export function useMayChange(workspace: string): boolean {
  return useWorkspaces().data?.find((one) => one.id === workspace)?.right !== 'viewer';
}
