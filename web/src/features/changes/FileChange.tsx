import { ArrowRight, ChevronRight, FilePen, FilePlus, FileX2, FolderInput, TriangleAlert, Undo2, type LucideIcon } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { LineCounts } from '@/components/LineCounts';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import type { ChangedFile } from '@/lib/api/types';
import { shownName } from '@/lib/marks';
import { unshown } from './model';

const DiffView = lazy(() => import('./DiffView'));
const LOOKS: Record<ChangedFile['status'], [LucideIcon, string]> = {
  created: [FilePlus, 'text-act'],
  modified: [FilePen, 'text-fg2'],
  deleted: [FileX2, 'text-critical'],
  moved: [FolderInput, 'text-fg2'],
};

/** Whether the user has looked at the file, and how they say so. */
interface ViewedMark {
  isViewed: boolean;
  mark: (isViewed: boolean) => void;
}

/** One file that was changed: a line, and its diff when it is opened. */
export function FileChange({ file, viewed }: { file: ChangedFile; viewed?: ViewedMark | null }) {
  const t = useText('changes');
  const [isOpen, setOpen] = useState(false);
  const [Icon, colour] = LOOKS[file.status];
  return (
    <li className="border-t first:border-t-0">
      <div className="flex items-center hover:bg-surface">
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="flex min-h-9 min-w-0 flex-1 items-center gap-2 px-3 py-1 text-left text-sm pointer-coarse:min-h-11">
          <ChevronRight size={14} aria-hidden className={`shrink-0 text-muted transition-transform ${isOpen ? 'rotate-90' : ''}`} />
          <Icon size={15} aria-label={t(file.status)} className={`shrink-0 ${colour}`} />
          <span className="min-w-0 flex-1 font-mono break-all">
            {file.from && <>{shownName(file.from)} <ArrowRight size={12} aria-hidden className="inline" /> </>}
            {shownName(file.path)}
            {file.git && <span className="block font-sans text-muted">{file.git}</span>}
          </span>
          {file.reverted && <span className="inline-flex shrink-0 items-center gap-1 rounded-full bg-surface px-2 text-xs text-muted"><Undo2 size={12} aria-hidden />{t('reverted')}</span>}
          <LineCounts added={file.added} removed={file.removed} />
        </button>
        {viewed && <ViewedBox path={file.path} viewed={viewed} fold={() => setOpen(false)} />}
      </div>
      {isOpen && <Body file={file} />}
    </li>
  );
}

/** A file that was looked at folds. */
function ViewedBox({ path, viewed, fold }: { path: string; viewed: ViewedMark; fold: () => void }) {
  const t = useText('changes');
  // The box follows the click at once, and the server's answer after it.
  const [chosen, setChosen] = useState(viewed.isViewed);
  useEffect(() => setChosen(viewed.isViewed), [viewed.isViewed]);
  const onChange = (isViewed: boolean) => {
    setChosen(isViewed);
    viewed.mark(isViewed);
    if (isViewed) fold();
  };
  return (
    <label className="flex min-h-9 shrink-0 items-center gap-1.5 pr-3 pl-1 text-xs text-fg2 pointer-coarse:min-h-11">
      <input type="checkbox" checked={chosen} onChange={(event) => onChange(event.target.checked)} aria-label={t('viewedFile', { path })} />{t('viewed')}
    </label>
  );
}

function Body({ file }: { file: ChangedFile }) {
  const t = useText('changes');
  const reason = unshown(file);
  return (
    <div className="border-t">
      {file.irreversible && (
        <p className="flex items-start gap-2 bg-major-soft px-3 py-1.5 text-sm text-major"><TriangleAlert size={15} aria-hidden className="mt-0.5 shrink-0" />{t('irreversible', { reason: file.irreversible })}</p>
      )}
      {reason ? <p className="px-3 py-2 text-sm text-muted">{t(reason)}</p> : <Suspense fallback={<Skeleton rows={2} />}><DiffView path={file.path} diff={file.diff} /></Suspense>}
      {!reason && file.truncated && <p className="border-t px-3 py-1.5 text-sm text-muted">{t('cut')}</p>}
    </div>
  );
}
