import { memo, useLayoutEffect, useRef, type ReactNode } from 'react';
import { Failed } from '@/components/Failed';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import type { ChangedFile } from '@/lib/api/types';
import { CommentRow } from './CommentRow';
import type { DiffProps } from './DiffScroll';
import { FileHead } from './FileHead';
import { HunkHead } from './HunkHead';
import { LineRow } from './LineRow';
import type { Row } from './rows';
import type { Coloured } from './useColours';

export function Head({ file, isFolded, has, comments, actions }: { file: ChangedFile } & DiffProps) {
  return <FileHead file={file} isFolded={isFolded(file)} isViewed={has(file)} comments={comments.all.filter(({ path }) => path === file.path).length} actions={actions} />;
}

/** One row, whatever it is. Rows whose height is not known beforehand say it once they are drawn. */
export function DiffRow({ row, colours, ...props }: { row: Row; colours: Coloured | null } & DiffProps) {
  const content = <Content row={row} colours={colours} {...props} />;
  return row.isMeasured ? <Measured key={row.key} id={row.key} measure={props.scroll.measure}>{content}</Measured> : content;
}

const Measured = memo(function Measured({ id, measure, children }: { id: string; measure: (key: string, height: number) => void; children: ReactNode }) {
  const node = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = node.current;
    if (!element) return undefined;
    const tell = () => measure(id, element.offsetHeight);
    const observer = new ResizeObserver(tell);
    observer.observe(element);
    tell();
    return () => observer.disconnect();
  }, [id, measure]);
  return <div ref={node}>{children}</div>;
});

function Content({ row, colours, ...props }: { row: Row; colours: Coloured | null } & DiffProps) {
  const t = useText('changes');
  const { files, cursor, diffs, comments, actions, scroller } = props;
  const file = files.get(row.path);
  if (!file) return null;
  if (row.kind === 'head') return <Head file={file} {...props} />;
  if (row.kind === 'hunk') {
    const isCurrent = cursor.hunk?.path === row.path && cursor.hunk.number === row.number;
    const canGo = actions.mayChange && !file.irreversible;
    return <HunkHead hunk={row.hunk} isCurrent={isCurrent} more={diffs.hasMore(row.path) ? () => diffs.more(file) : null} takeBack={canGo ? () => actions.takeBack(file, row.hunk) : null} />;
  }
  if (row.kind === 'comment') return <CommentRow draft={row.draft} comments={comments} leave={() => scroller.current?.focus({ preventScroll: true })} />;
  if (row.kind === 'failed') return <Failed error={row.error} retry={() => diffs.again(file)} />;
  if (row.kind === 'note') return row.note === 'loading' ? <div style={{ height: row.height }} className="overflow-hidden"><Skeleton rows={3} /></div> : <p className="diff-note">{t(row.note)}</p>;
  const [left, right] = row.kind === 'pair' ? [row.left, row.right] : [row.change, row.change];
  const old = left?.type === 'delete' ? left.lineNumber : left?.type === 'normal' ? left.oldLineNumber : 0;
  const young = right?.type === 'insert' ? right.lineNumber : right?.type === 'normal' ? right.newLineNumber : 0;
  return <LineRow row={row} oldTokens={colours?.old[old - 1]} newTokens={colours?.new[young - 1]} isCursor={cursor.line === row.key} isInRange={cursor.range.has(row.key)} />;
}
