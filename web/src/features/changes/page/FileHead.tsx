import { ChevronDown, ChevronRight, MessageSquare, Undo2 } from 'lucide-react';
import { LineCounts } from '@/components/LineCounts';
import { useText } from '@/i18n';
import type { ChangedFile } from '@/lib/api/types';
import { shownName } from '@/lib/marks';
import { canBeViewed } from '../useViewed';
import type { Actions } from './actions';

interface Props {
  file: ChangedFile;
  isFolded: boolean;
  isViewed: boolean;
  comments: number;
  /** Null for a viewer, who can only look and comment nowhere. */
  actions: Actions;
}

/** The head of a file: folds it, takes it back, marks it as viewed. */
export function FileHead({ file, isFolded, isViewed, comments, actions }: Props) {
  const t = useText('changesPage');
  const changes = useText('changes');
  const shown = shownName(file.path.replace(/^\//, ''));
  const cut = shown.lastIndexOf('/') + 1;
  const Fold = isFolded ? ChevronRight : ChevronDown;
  return (
    <div className="diff-head" data-head={file.path}>
      <button type="button" aria-expanded={!isFolded} aria-label={shown} title={shown} onClick={() => actions.fold(file, !isFolded)} className="flex h-full min-w-0 items-center gap-2 pr-1 pl-1">
        <Fold size={15} aria-hidden className="shrink-0 text-fg2" />
        <span className="path">{file.from && `${shownName(file.from.replace(/^\//, ''))} → `}{shown.slice(0, cut)}<b>{shown.slice(cut)}</b></span>
      </button>
      <LineCounts added={file.added} removed={file.removed} />
      {file.step !== undefined && file.step !== null && <span className="shrink-0 text-xs text-fg2 max-sm:hidden">{t('step', { step: file.step })}</span>}
      {comments > 0 && <span className="inline-flex shrink-0 items-center gap-1 text-xs text-fg2"><MessageSquare size={13} aria-label={t('comments')} />{comments}</span>}
      <span className="flex-1" />
      {actions.mayChange && !file.irreversible && <button type="button" className="diff-undo" aria-label={t('takeBackFileOf', { path: shown })} onClick={() => actions.takeBack(file, null)}><Undo2 size={13} aria-hidden /><span className="max-sm:sr-only">{t('takeBackFile')}</span></button>}
      {actions.mayChange && canBeViewed(file) && (
        <label className="flex h-full shrink-0 items-center gap-1.5 text-xs text-fg2">
          <input type="checkbox" checked={isViewed} onChange={(event) => actions.view(file, event.target.checked)} aria-label={changes('viewedFile', { path: shown })} />
          <span className="max-sm:sr-only">{changes('viewed')}</span>
        </label>
      )}
    </div>
  );
}
