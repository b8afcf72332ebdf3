import { memo, type ReactNode } from 'react';
import { useText } from '@/i18n';
import { shownText } from '@/lib/marks';
import { LONGEST_LINE, type Change } from '@/lib/unifiedDiff';
import type { Row } from './rows';
import type { Token } from './useColours';

type LineRowData = Extract<Row, { kind: 'line' | 'pair' }>;

interface Props {
  row: LineRowData;
  oldTokens: Token[] | undefined;
  newTokens: Token[] | undefined;
  isCursor: boolean;
  isInRange: boolean;
}

/** One line of a diff; side by side, one on each side. Its number is the button that comments on it. */
export const LineRow = memo(function LineRow({ row, oldTokens, newTokens, isCursor, isInRange }: Props) {
  const marks = { 'data-row': row.key, 'data-cursor': isCursor || undefined, 'data-range': isInRange || undefined };
  if (row.kind === 'line') {
    const { change } = row;
    return (
      <div className="diff-line" data-change={change.type} {...marks}>
        <Gutter row={row} numbers={[change.type === 'normal' ? change.oldLineNumber : change.type === 'delete' ? change.lineNumber : '', change.type === 'normal' ? change.newLineNumber : change.type === 'insert' ? change.lineNumber : '']} />
        <Code change={change} tokens={change.type === 'delete' ? oldTokens : newTokens} />
        <span aria-hidden className="plus">+</span>
      </div>
    );
  }
  return (
    <div className="diff-line" {...marks}>
      <Half row={row} change={row.left} side="old" tokens={oldTokens} />
      <Half row={row} change={row.right} side="new" tokens={newTokens} />
    </div>
  );
});

function Half({ row, change, side, tokens }: { row: LineRowData; change: Change | null; side: 'old' | 'new'; tokens: Token[] | undefined }) {
  if (!change) return <div className="half" data-empty />;
  const number = change.type === 'normal' ? (side === 'old' ? change.oldLineNumber : change.newLineNumber) : change.lineNumber;
  return (
    <div className="half" data-change={change.type}>
      <Gutter row={row} numbers={[number]} />
      <Code change={change} tokens={tokens} />
    </div>
  );
}

function Gutter({ row, numbers }: { row: LineRowData; numbers: (number | string)[] }) {
  const t = useText('changesPage');
  return (
    <button type="button" tabIndex={-1} data-gutter className="gutter" aria-label={t('commentOnLine', { line: row.line.number })}>
      {numbers.map((number, place) => <span key={place}>{number}</span>)}
    </button>
  );
}

const SIGNS = { insert: '+', delete: '−', normal: ' ' };

function Code({ change, tokens }: { change: Change; tokens: Token[] | undefined }) {
  const t = useText('changesPage');
  const { content } = change;
  const isCut = content.length > LONGEST_LINE;
  return (
    <>
      <span className="sign">{SIGNS[change.type]}</span>
      <span className="code">
        {tokens && !isCut ? drawn(tokens) : shownText(content.slice(0, LONGEST_LINE)) || '\u200b'}
        {isCut && <em className="text-muted"> {t('lineCut', { count: content.length - LONGEST_LINE })}</em>}
      </span>
    </>
  );
}

function drawn(tokens: Token[]): ReactNode {
  return tokens.map((token, place) => {
    if (token.type === 'text') return shownText(token.value ?? '') || '\u200b';
    const names = token.properties?.className;
    const className = token.type === 'edit' ? 'word' : Array.isArray(names) ? names.join(' ') : undefined;
    return <span key={place} className={className}>{drawn(token.children ?? [])}</span>;
  });
}
