import { Undo2 } from 'lucide-react';
import { useText } from '@/i18n';
import { shownText } from '@/lib/marks';
import type { Hunk } from '@/lib/unifiedDiff';

interface Props {
  hunk: Hunk;
  isCurrent: boolean;
  /** Null where there are no more lines around it. */
  more: (() => void) | null;
  /** Null where nothing can be taken back. */
  takeBack: (() => void) | null;
}

/** Where a change of a file begins: more lines around it, and taking it back. */
export function HunkHead({ hunk, isCurrent, more, takeBack }: Props) {
  const t = useText('changesPage');
  return (
    <div className="diff-hunk" data-current={isCurrent || undefined}>
      <button type="button" className="diff-more" disabled={!more} aria-label={t('moreContext')} title={more ? t('moreContext') : undefined} onClick={() => more?.()}>{more ? '⋯' : ''}</button>
      <span className="text">@@ −{hunk.oldStart},{hunk.oldLines} +{hunk.newStart},{hunk.newLines} @@ {shownText(hunk.heading)}</span>
      {takeBack && (
        <button type="button" className="diff-undo" aria-label={t('takeBackHunkAt', { line: hunk.newStart })} onClick={takeBack}>
          <Undo2 size={13} aria-hidden />
          <span className="max-sm:sr-only">{t('takeBackHunk')}</span>
        </button>
      )}
    </div>
  );
}
