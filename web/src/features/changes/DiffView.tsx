// A unified diff with line numbers and coloured code, in a chunk of its own.
import { Suspense, use, useMemo } from 'react';
import { Diff, Hunk, markEdits, parseDiff, tokenize, type FileData, type HunkTokens, type TokenizeOptions } from 'react-diff-view';
import 'react-diff-view/style/index.css';
import './DiffView.css';
import { highlightOf, type Highlight } from '@/components/markdown/highlight';
import { languageOf } from '@/lib/language';
import { uncut } from './model';

/** Beyond this, colour costs more than it helps. */
const MOST_COLOURED = 60_000;

export default function DiffView({ path, diff }: { path: string; diff: string }) {
  const files = useMemo(() => parseDiff(uncut(diff), { nearbySequences: 'zip' }), [diff]);
  return (
    <div tabIndex={0} role="group" aria-label={path} className="diff-frame overflow-x-auto">
      {files.map((file, index) => <OneFile key={index} file={file} path={path} isShort={diff.length < MOST_COLOURED} />)}
    </div>
  );
}

interface Props {
  file: FileData;
  path: string;
  isShort: boolean;
}

function OneFile(props: Props) {
  // Without colours until they are there.
  return props.isShort ? <Suspense fallback={<Drawn {...props} highlight={null} />}><Coloured {...props} /></Suspense> : <Drawn {...props} highlight={null} />;
}

function Coloured(props: Props) {
  return <Drawn {...props} highlight={use(highlightOf(languageOf(props.path)))} />;
}

function Drawn({ file, isShort, highlight }: Props & { highlight: Highlight | null }) {
  const tokens = useMemo(() => (isShort ? coloured(file, highlight) : undefined), [file, isShort, highlight]);
  return (
    <Diff viewType="unified" diffType={file.type} hunks={file.hunks} tokens={tokens ?? null} optimizeSelection>
      {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
    </Diff>
  );
}

function coloured(file: FileData, highlight: Highlight | null): HunkTokens | undefined {
  const enhancers = [markEdits(file.hunks, { type: 'block' })];
  const refractor = highlight && { highlight: (code: string) => highlight.tree(code) };
  const options = refractor ? { highlight: true, refractor, language: 'any', enhancers } : { enhancers };
  try {
    return tokenize(file.hunks, options as unknown as TokenizeOptions);
  } catch {
    // Without colours it is still a diff.
    return undefined;
  }
}
