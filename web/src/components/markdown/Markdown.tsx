import { useMemo, useRef } from 'react';
import { BlockView } from './BlockView';
import { blocksOf, GrowingBlocks, type Block } from './blocks';
import './Markdown.css';

/** Text of a model or a user, as elements: never as HTML. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return <Drawn blocks={blocks} />;
}

/** The same for a text that is still being written. */
export function GrowingMarkdown({ text }: { text: string }) {
  const growing = useRef<GrowingBlocks | null>(null);
  growing.current ??= new GrowingBlocks();
  return <Drawn blocks={growing.current.of(text)} />;
}

function Drawn({ blocks }: { blocks: Block[] }) {
  return (
    <div className="prose">
      {blocks.map(({ token, isComplete }, index) => <BlockView key={index} token={token} isComplete={isComplete} />)}
    </div>
  );
}
