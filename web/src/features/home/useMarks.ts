// Pinning, archiving and deleting, of one chat or many.
import { useQueryClient } from '@tanstack/react-query';
import { api } from '@/lib/api/client';
import { inboxApi } from '@/lib/api/inbox';
import { refreshInbox } from '@/lib/inbox';
import { toast, toastError } from '@/lib/toast';
import { isOver, type Row } from './rows';
import type { Text } from '@/i18n';

export function useMarks(t: Text<'inbox'>) {
  const queries = useQueryClient();
  /** Reads the lists again even if something failed on the way: the rest was done. */
  const each = async (rows: Row[], act: (row: Row) => Promise<unknown>) => {
    const done = await Promise.allSettled(rows.map(act));
    await Promise.all([refreshInbox(queries), queries.invalidateQueries({ queryKey: ['chats'] })]);
    const failed = done.find((one) => one.status === 'rejected');
    if (failed) toastError(failed.reason);
  };
  const pin = (rows: Row[], pinned: boolean) => each(rows, (row) => inboxApi.mark(row.workspace_id, row.id, { pinned }));
  const bringBack = (rows: Row[]) => each(rows, (row) => inboxApi.mark(row.workspace_id, row.id, { archived: false }));
  const archive = async (rows: Row[]) => {
    const over = rows.filter(isOver);
    if (over.length < rows.length) toast(t('stillOpen'));
    if (over.length === 0) return;
    await each(over, (row) => inboxApi.mark(row.workspace_id, row.id, { archived: true }));
    toast(t('archivedToast', { count: over.length }), { action: { label: t('undo'), run: () => void bringBack(over) } });
  };
  const remove = (rows: Row[]) => each(rows, (row) => api.deleteChat(row.workspace_id, row.id));
  return { pin, archive, bringBack, remove };
}
