import { useText } from '@/i18n';
import { shownText } from '@/lib/marks';
import { LONGEST_LINE, lineOf, type Hunk } from '@/lib/unifiedDiff';
import './DiffLines.css';

const MOST = 300;
const SIGNS = { insert: '+', delete: '−', normal: ' ' };

/** Lines of a diff, to read. */
export function DiffLines({ hunks, label }: { hunks: Hunk[]; label: string }) {
  const t = useText('approval');
  const lines = hunks.flatMap(({ changes }) => changes);
  return (
    <div tabIndex={0} role="group" aria-label={label} className="quoted-lines">
      {lines.slice(0, MOST).map((change, place) => {
        const { number, text } = lineOf(change);
        return (
          <div key={place} className="diff-line" data-change={change.type}>
            <span className="gutter"><span>{number}</span></span>
            <span className="sign">{SIGNS[change.type]}</span>
            <span className="code">{shownText(text.slice(0, LONGEST_LINE)) || '\u200b'}</span>
          </div>
        );
      })}
      {lines.length > MOST && <p className="diff-note">{t('moreLines', { count: lines.length - MOST })}</p>}
    </div>
  );
}
