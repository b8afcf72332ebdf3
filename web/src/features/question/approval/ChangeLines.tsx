import { useText } from '@/i18n';
import { changeOf, type ChangedLine, type LineChange } from './change';
import type { CallView } from '../call';
import { usePresent } from './usePresent';
import { shownName } from '@/lib/marks';

const LINES = {
  same: { sign: ' ', look: 'text-muted' },
  added: { sign: '+', look: 'bg-added' },
  removed: { sign: '−', look: 'bg-deleted' },
};

/** What a call would change in a file: against the file as it is now, with the numbers of the lines. */
export function ChangeLines({ call, path, question }: { call: CallView; path: string; question: string }) {
  const t = useText('approval');
  const common = useText('common');
  const present = usePresent(path, question);
  if (present === undefined) return <p className="text-sm text-muted">{common('loading')}</p>;
  const change = changeOf(call.tool, call.args, present);
  return (
    <div className="min-w-0">
      <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
        <span className="font-medium">{change.isNew ? t('newContent') : t('change')}</span>
        <span className="tabular-nums">{t('changeSize', { added: change.added, removed: change.removed })}</span>
        <Note change={change} />
      </p>
      {change.rows.length === 0 && <p className="text-sm text-muted">{t('changesNothing')}</p>}
      <pre tabIndex={0} aria-label={shownName(path)} className="overflow-x-auto rounded-sm border bg-bg py-1 text-sm empty:hidden">
        {change.rows.map((row, place) => ('hidden' in row ? <div key={place} className="bg-surface px-2 text-muted select-none">{t('sameLines', { count: row.hidden })}</div> : <Line key={place} line={row} />))}
      </pre>
    </div>
  );
}

function Line({ line }: { line: ChangedLine }) {
  const t = useText('approval');
  const number = 'inline-block w-9 shrink-0 text-right tabular-nums text-muted';
  const hasNumber = line.before !== undefined || line.after !== undefined;
  return (
    <div data-change={line.change} data-line={line.after ?? line.before} className={`flex w-max min-w-full px-2 ${LINES[line.change].look}`}>
      <span aria-hidden="true" className="mr-2 flex shrink-0 gap-1 select-none">
        {hasNumber && <><span className={number}>{line.before}</span><span className={number}>{line.after}</span></>}
        <span className="w-2">{LINES[line.change].sign}</span>
      </span>
      <span>{line.text}{line.isOpen && <em className="ml-2 text-xs text-muted">{t('noLineEnd')}</em>}</span>
    </div>
  );
}

function Note({ change: { note, places = 0 } }: { change: LineChange }) {
  const t = useText('approval');
  if (note === undefined) return null;
  const words = { replacesAll: t('replacesAll', { count: places }), notFound: t('editNotFound'), ambiguous: t('editAmbiguous', { count: places }), noText: t('presentNoText'), unknown: t('presentUnknown') };
  return <span data-note={note} className={note === 'replacesAll' ? 'font-semibold' : 'text-major'}>{words[note]}</span>;
}
