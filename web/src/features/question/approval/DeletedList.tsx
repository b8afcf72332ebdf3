import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { breakable } from '@/components/FileLink';
import { useLocale, useText } from '@/i18n';
import { shownName, shownText } from '@/lib/marks';
import { bytes } from '@/lib/number';
import type { DeletedEntry } from '../call';
import '@/components/DiffLines.css';

/** What a call would delete: each with its size, and its beginning when opened. */
export function DeletedList({ entries, count }: { entries: DeletedEntry[]; count: number }) {
  const t = useText('approval');
  return (
    <ul aria-label={t('deletedList')} className="overflow-hidden rounded-md border">
      {entries.map((entry, place) => <Entry key={entry.path} entry={entry} isOpenAtFirst={place === 0} />)}
      {count > entries.length && <li className="border-t px-3 py-1 text-sm text-muted">{t('moreEntries', { count: count - entries.length })}</li>}
    </ul>
  );
}

/** The lines of a beginning that are shown. */
const SHOWN = 8;

function Entry({ entry, isOpenAtFirst }: { entry: DeletedEntry; isOpenAtFirst: boolean }) {
  const t = useText('approval');
  const locale = useLocale((state) => state.locale);
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const Fold = isOpen ? ChevronDown : ChevronRight;
  const lines = entry.beginning?.replace(/\n$/, '').split('\n').slice(0, SHOWN) ?? [];
  const hidden = (entry.lines ?? 0) - lines.length;
  const size = entry.size === undefined ? '' : bytes(locale, entry.size);
  return (
    <li className="border-t first:border-t-0">
      <button type="button" disabled={lines.length === 0} aria-expanded={lines.length > 0 ? isOpen : undefined} onClick={() => setOpen(!isOpen)} className="flex min-h-7.5 w-full items-center gap-2 px-2 py-1 text-left hover:bg-surface disabled:hover:bg-transparent pointer-coarse:min-h-11">
        <Fold size={14} aria-hidden className={`shrink-0 text-fg2 ${lines.length === 0 ? 'opacity-0' : ''}`} />
        <code className="min-w-0 flex-1 wrap-anywhere">{breakable(shownName(entry.path))}</code>
        <span className="shrink-0 text-xs text-fg2">{entry.kind === 'file' ? size : t(entry.kind)}</span>
        {entry.lines !== undefined && <span className="shrink-0 text-xs text-critical">−{entry.lines}</span>}
      </button>
      {isOpen && lines.length > 0 && (
        <div className="quoted-lines border-0!">
          {lines.map((line, place) => (
            <div key={place} className="diff-line" data-change="delete"><span className="gutter"><span>{place + 1}</span></span><span className="sign">−</span><span className="code">{shownText(line) || '\u200b'}</span></div>
          ))}
          {hidden > 0 && <p className="diff-note">{t('moreLines', { count: hidden })}</p>}
        </div>
      )}
    </li>
  );
}
