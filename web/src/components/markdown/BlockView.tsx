import { memo, type ReactNode } from 'react';
import type { MarkedToken, Token, Tokens } from 'marked';
import { CodeBlock } from './CodeBlock';
import { Inline } from './Inline';

/** One block. Drawn again only when its text has changed. */
export const BlockView = memo(
  function BlockView({ token, isComplete }: { token: Token; isComplete: boolean }) {
    return block(token as MarkedToken, isComplete);
  },
  (before, after) => before.token.raw === after.token.raw && before.token.type === after.token.type && before.isComplete === after.isComplete,
);

function block(token: MarkedToken, isComplete: boolean): ReactNode {
  switch (token.type) {
    case 'heading':
      // All of one level, below that of the page: models skip levels, and who listens would hear that as a hole.
      return <h2 data-depth={token.depth}><Inline tokens={token.tokens} /></h2>;
    case 'paragraph':
      return <p><Inline tokens={token.tokens} /></p>;
    case 'text':
      return token.tokens ? <Inline tokens={token.tokens} /> : token.text;
    case 'checkbox':
      // Beside the words that follow, not in a paragraph of its own.
      return <Inline tokens={[token]} />;
    case 'code':
      return <CodeBlock code={token.text} language={token.lang?.split(/\s/)[0] ?? ''} isComplete={isComplete} />;
    case 'blockquote':
      return <blockquote><Blocks tokens={token.tokens} isComplete={isComplete} /></blockquote>;
    case 'list':
      return <List list={token} isComplete={isComplete} />;
    case 'table':
      return <Table table={token} />;
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    default:
      return <p><Inline tokens={[token]} /></p>;
  }
}

function Blocks({ tokens, isComplete }: { tokens: Token[]; isComplete: boolean }) {
  return tokens.map((token, index) => <BlockView key={index} token={token} isComplete={isComplete} />);
}

function List({ list, isComplete }: { list: Tokens.List; isComplete: boolean }) {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? 'task' : undefined}>
      <Blocks tokens={item.tokens} isComplete={isComplete} />
    </li>
  ));
  return list.ordered ? <ol start={list.start === '' ? undefined : list.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { table: Tokens.Table }) {
  const cell = (one: Tokens.TableCell, index: number) => {
    const Cell = one.header ? 'th' : 'td';
    return <Cell key={index} align={one.align ?? undefined}><Inline tokens={one.tokens} /></Cell>;
  };
  return (
    <div className="table-frame" tabIndex={0}>
      <table>
        <thead><tr>{table.header.map(cell)}</tr></thead>
        <tbody>{table.rows.map((row, index) => <tr key={index}>{row.map(cell)}</tr>)}</tbody>
      </table>
    </div>
  );
}
