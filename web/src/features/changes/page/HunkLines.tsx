import { useText } from '@/i18n';
import { shownText } from '@/lib/marks';
import { lineOf, type Hunk } from './diff';
import { LONGEST_LINE } from './rows';

const MOST = 300;
const SIGNS = { insert: '+', delete: '−', normal: ' ' };

/** The changed lines of some hunks, to read. */
export function HunkLines({ hunks, label }: { hunks: Hunk[]; label: string }) {
  const t = useText('changesPage');
  const lines = hunks.flatMap(({ changes }) => changes.filter(({ type }) => type !== 'normal'));
  return (
    <div tabIndex={0} role="group" aria-label={label} className="quoted-lines">
      {lines.slice(0, MOST).map((change, place) => (
        <div key={place} className="diff-line" data-change={change.type}>
          <span className="sign">{SIGNS[change.type]}</span>
          <span className="code">{shownText(lineOf(change).text.slice(0, LONGEST_LINE)) || '\u200b'}</span>
        </div>
      ))}
      {lines.length > MOST && <p className="diff-note">{t('moreLines', { count: lines.length - MOST })}</p>}
    </div>
  );
}
