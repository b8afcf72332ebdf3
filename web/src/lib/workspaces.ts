// The workspaces, and what the user may do in them.
import { useQuery, type QueryClient } from '@tanstack/react-query';
import { api } from '@/lib/api/client';
import { settingsApi } from '@/lib/api/settings';
import type { Workspace } from '@/lib/api/types';

export const useMe = () => useQuery({ queryKey: ['me'], queryFn: api.me, staleTime: Infinity });
/** Whether the user can add workspaces. */
export const useAddsFolders = () => useMe().data?.user.adds_folders === true;
export const useWorkspaces = () => useQuery({ queryKey: ['workspaces'], queryFn: api.workspaces });
export const useRules = (workspace: string) => useQuery({ queryKey: ['rules', workspace], queryFn: () => settingsApi.rules(workspace) });
export const useTrust = (workspace: string) => useQuery({ queryKey: ['trust', workspace], queryFn: () => settingsApi.trust(workspace) });

/** Updates a workspace in the cache, and reloads the rest. */
export function learnWorkspace(queries: QueryClient, workspace: Workspace): void {
  queries.setQueryData<Workspace[]>(['workspaces'], (known = []) =>
    known.some((one) => one.id === workspace.id) ? known.map((one) => (one.id === workspace.id ? workspace : one)) : [...known, workspace],
  );
  void queries.invalidateQueries({ queryKey: ['rules', workspace.id] });
}
