import { use, Suspense, type ReactNode } from 'react';
import { CopyButton } from '@/components/CopyButton';

type Highlight = (language: string, code: string) => ReactNode;
let highlighter: Promise<Highlight> | null = null;
/** Beyond this, colour costs more than it helps. */
const MOST_COLOURED = 30_000;

/** Loads the highlighter when the first finished block needs it. */
const load = () => (highlighter ??= import('./highlight').then((module) => module.highlight));

export function CodeBlock({ code, language, isComplete }: { code: string; language: string; isComplete: boolean }) {
  const isColoured = isComplete && language !== '' && code.length < MOST_COLOURED;
  return (
    <div className="code-block">
      <div className="flex h-8 items-center justify-between border-b pl-3 text-xs text-muted">
        <span>{language}</span>
        <CopyButton text={code} />
      </div>
      <pre tabIndex={0}>
        <code>{isColoured ? <Suspense fallback={code}><Coloured code={code} language={language} /></Suspense> : code}</code>
      </pre>
    </div>
  );
}

/** Suspends until the highlighter is there. */
export function Coloured({ code, language }: { code: string; language: string }) {
  return use(load())(language, code);
}
