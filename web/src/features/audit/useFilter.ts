import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import { api, type AuditFilter } from '@/lib/api/client';
import { beginningOf, lastDays } from './series';

type FilterName = 'days' | 'workspace' | 'chat' | 'role' | 'model' | 'kind';
export const RANGES = [7, 30, 90] as const;

/** What the page is about; in its address, so that it can be sent to somebody. */
export function useFilter() {
  const [params, setParams] = useSearchParams();
  const of = (name: FilterName) => params.get(name) ?? '';
  const asked = Number(of('days'));
  const days: number = RANGES.find((range) => range === asked) ?? 30;
  const [workspace, chat, role, model, kind] = [of('workspace'), of('chat'), of('role'), of('model'), of('kind')];
  const shown = useMemo(() => lastDays(days), [days]);
  const filter = useMemo(
    (): AuditFilter => ({ from: beginningOf(shown[0] ?? '').toISOString(), ...(workspace && { workspace }), ...(chat && { chat }), ...(role && { role }), ...(model && { model }) }),
    [shown, workspace, chat, role, model],
  );
  const set = (name: FilterName, value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value) next.set(name, value);
        else next.delete(name);
        // A chat is of one workspace.
        if (name === 'workspace') next.delete('chat');
        return next;
      },
      { replace: true },
    );
  return { days, shown, filter, kind, set, values: { workspace, chat, role, model }, isFiltered: [workspace, chat, role, model].some(Boolean), clear: () => setParams(of('days') ? { days: of('days') } : {}, { replace: true }) };
}

/** The chats there are, to choose from and to be named in the table. */
export function useChats(workspace: string) {
  const workspaces = useQuery({ queryKey: ['workspaces'], queryFn: api.workspaces });
  const rows = workspaces.data ?? [];
  const lists = useQueries({ queries: rows.map(({ id }) => ({ queryKey: ['chats', id], queryFn: () => api.chats(id) })) });
  const chats = lists.flatMap((list) => list.data ?? []);
  return { workspaces: rows, chats, choices: workspace ? chats.filter((chat) => chat.workspace_id === workspace) : chats };
}
