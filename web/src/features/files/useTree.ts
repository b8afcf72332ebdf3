import { useQueries, useQueryClient } from '@tanstack/react-query';
import { create } from 'zustand';
import { api } from '@/lib/api/client';
import { useChatIds } from '@/lib/chat/context';
import { useEffects } from '@/lib/chat/effects';
import { rowsOf, type Folder, type TreeRow } from './tree';

/** Which folders are open, by workspace: kept while the page is. */
const useOpen = create<{ open: Record<string, string[]> }>(() => ({ open: {} }));
const NONE: string[] = [];

export function useTree(): { root: Folder | undefined; rows: TreeRow[]; toggle: (path: string) => void; retry: () => void } {
  const { workspaceId } = useChatIds();
  const effects = useEffects();
  const queries = useQueryClient();
  const open = useOpen((state) => state.open[workspaceId] ?? NONE);
  const asked = ['/', ...open];
  const found = useQueries({
    queries: asked.map((path) => ({
      queryKey: ['files', workspaceId, path, effects],
      queryFn: () => api.files(workspaceId, path),
      placeholderData: <T>(previous: T | undefined) => previous,
    })),
  });
  const folders = new Map(asked.map((path, index): [string, Folder] => [path, { node: found[index]?.data, error: found[index]?.error ?? null }]));
  const toggle = (path: string) => useOpen.setState((state) => ({ open: { ...state.open, [workspaceId]: open.includes(path) ? open.filter((one) => one !== path) : [...open, path] } }));
  return { root: folders.get('/'), rows: rowsOf(folders, new Set(open)), toggle, retry: () => void queries.invalidateQueries({ queryKey: ['files', workspaceId] }) };
}
