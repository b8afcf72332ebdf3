import { Archive, ArchiveRestore, Pin, PinOff, Trash2, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { Confirm } from '@/components/Modal';
import type { Row } from './rows';
import { focusRow, placeOf, takeLostFocus } from './useInboxKeys';
import type { useMarks } from './useMarks';
import type { Selection } from './useSelection';
import type { Text } from '@/i18n';

/** What can be done with the selected chats together. */
export function SelectionBar({ t, rows, selection, marks }: { t: Text<'inbox'>; rows: Row[]; selection: Selection; marks: ReturnType<typeof useMarks> }) {
  const [isDeleting, setDeleting] = useState(false);
  const safe = useRef<HTMLButtonElement>(null);
  // At once: what is selected while this is under way must stay selected.
  const run = (act: (rows: Row[]) => Promise<void>) => () => {
    const at = rows[0] ? placeOf(rows[0].id) : 0;
    selection.clear();
    focusRow(at);
    void act(rows).then(() => takeLostFocus(at));
  };
  const isPinned = rows.every((row) => row.pinned);
  const isArchived = rows.every((row) => row.archived);
  return (
    <div role="toolbar" aria-label={t('selected', { count: rows.length })} className="sticky top-0 z-20 flex min-h-11.5 flex-wrap items-center gap-1 border-b bg-bg py-1 max-sm:px-4">
      <span className="mr-2 font-semibold">{t('selected', { count: rows.length })}</span>
      <Button look="quiet" onClick={run((all) => marks.pin(all, !isPinned))}>{isPinned ? <PinOff size={14} aria-hidden /> : <Pin size={14} aria-hidden />}{isPinned ? t('unpin') : t('pin')}</Button>
      <Button look="quiet" onClick={run(isArchived ? marks.bringBack : marks.archive)}>{isArchived ? <ArchiveRestore size={14} aria-hidden /> : <Archive size={14} aria-hidden />}{isArchived ? t('unarchive') : t('archive')}</Button>
      <Button look="quiet" onClick={() => setDeleting(true)}><Trash2 size={14} aria-hidden />{t('delete')}</Button>
      <IconButton label={t('deselect')} onClick={selection.clear} className="ml-auto"><X size={15} aria-hidden /></IconButton>
      <Confirm isOpen={isDeleting} close={() => setDeleting(false)} title={t('deleteTitle', { count: rows.length })} hint={t('deleteHint')} safe={safe}>
        <Button ref={safe} onClick={() => setDeleting(false)}>{t('keep')}</Button>
        <Button look="danger" onClick={() => { setDeleting(false); run(marks.remove)(); }}>{t('deleteButton', { count: rows.length })}</Button>
      </Confirm>
    </div>
  );
}
