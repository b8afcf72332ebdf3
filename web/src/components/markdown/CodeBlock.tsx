import { use, useState, Suspense } from 'react';
import { CodeXml, Workflow } from 'lucide-react';
import { CopyButton } from '@/components/CopyButton';
import { IconButton } from '@/components/IconButton';
import { part } from '@/components/part';
import { useText } from '@/i18n';
import type { Highlight } from './highlight';

const Diagram = part(() => import('./Diagram').then((all) => all.Diagram));

const highlights = new Map<string, Promise<Highlight | null>>();
/** Beyond this, colour costs more than it helps. */
const MOST_COLOURED = 30_000;

/** Loads the highlighter and the language when a finished block first needs them. Without them, code is plain. */
function load(language: string): Promise<Highlight | null> {
  const known = highlights.get(language);
  if (known) return known;
  const promise = import('./highlight').then((all) => all.highlightOf(language)).catch(() => null);
  highlights.set(language, promise);
  return promise;
}

export function CodeBlock({ code, language, isComplete }: { code: string; language: string; isComplete: boolean }) {
  const t = useText('chat');
  const [isDrawn, setDrawn] = useState(false);
  const isColoured = isComplete && language !== '' && code.length < MOST_COLOURED;
  return (
    <div className="code-block">
      <div className="flex h-8 items-center justify-between border-b pl-3 text-xs text-muted">
        <span className="min-w-0 truncate">{language}</span>
        <span className="flex shrink-0">
          {isComplete && language === 'mermaid' && (
            <IconButton label={isDrawn ? t('showCode') : t('draw')} onClick={() => setDrawn(!isDrawn)}>{isDrawn ? <CodeXml size={14} aria-hidden /> : <Workflow size={14} aria-hidden />}</IconButton>
          )}
          <CopyButton text={code} />
        </span>
      </div>
      {isDrawn ? (
        <Diagram code={code} />
      ) : (
        <pre tabIndex={0}>
          <code>{isColoured ? <Suspense fallback={code}><Coloured code={code} language={language} /></Suspense> : code}</code>
        </pre>
      )}
    </div>
  );
}

/** Suspends until the highlighter is there. */
export function Coloured({ code, language }: { code: string; language: string }) {
  return use(load(language))?.draw(code) ?? code;
}
