// What the user may do in a workspace.
import { useQuery } from '@tanstack/react-query';
import { api } from '@/lib/api/client';

/** Not for a viewer, who may look at everything and change nothing. The server has the last word. */
export function useMayChange(workspace: string): boolean {
  const workspaces = useQuery({ queryKey: ['workspaces'], queryFn: api.workspaces });
  const row = workspaces.data?.find((one) => one.id === workspace) as { right?: string } | undefined;
  return row?.right !== 'viewer';
}
