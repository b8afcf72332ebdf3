import { BookOpen, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useText } from '@/i18n';
import type { Call } from '@/lib/chat/rows';
import { CallCard } from './ToolCallCard';
import { summaryOf } from './toolCall';

/** Neighbouring calls that only read, folded into one line. */
export function ReadsCard({ calls }: { calls: Call[] }) {
  const t = useText('chat');
  const [isOpen, setOpen] = useState(false);
  const files = [...new Set(calls.map(({ call }) => summaryOf(call).trim()))].filter((one) => one !== '');
  return (
    <article aria-label={t('reads', { count: calls.length })} className="overflow-hidden rounded-md border bg-bg">
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="flex min-h-9 w-full items-center gap-2 px-3 text-left text-sm hover:bg-surface pointer-coarse:min-h-11">
        <ChevronRight size={14} aria-hidden className={`shrink-0 text-muted transition-transform ${isOpen ? 'rotate-90' : ''}`} />
        <BookOpen size={14} aria-hidden className="shrink-0 text-muted" />
        <span className="shrink-0 font-medium">{t('reads', { count: calls.length })}</span>
        <span className="min-w-0 truncate font-mono text-muted">{files.join(', ')}</span>
      </button>
      {isOpen && (
        <div className="flex flex-col gap-1.5 border-t bg-surface p-2">
          {calls.map(({ call, result }) => <CallCard key={call.id} call={call} result={result} />)}
        </div>
      )}
    </article>
  );
}
