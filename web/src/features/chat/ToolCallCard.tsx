import { Ban, Check, ChevronRight, CircleDashed, CircleX, Clock, LoaderCircle, ShieldX, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { useLocale, useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';
import type { Call } from '@/lib/chat/rows';
import { duration } from '@/lib/time';
import { useSlots } from './slots';
import { ToolDetails } from './ToolDetails';
import { factOf, iconOf, stateOf, summaryOf, toolOf, type CallState } from './toolCall';

const STATES: Record<CallState, { icon: LucideIcon; colour: string }> = {
  proposed: { icon: CircleDashed, colour: 'text-muted' },
  awaiting: { icon: Clock, colour: 'text-major' },
  running: { icon: LoaderCircle, colour: 'text-mode motion-safe:animate-spin' },
  done: { icon: Check, colour: 'text-act' },
  denied: { icon: Ban, colour: 'text-critical' },
  failed: { icon: CircleX, colour: 'text-critical' },
  blocked: { icon: ShieldX, colour: 'text-critical' },
};

/** The card of a call whose result has not come, or is looked up. */
export function ToolCallCard({ message }: { message: Message }) {
  return <CallCard call={message} result={null} />;
}

/** A call and what came of it: one line, and all of it when opened. */
export function CallCard({ call, result }: Call) {
  const t = useText('chat');
  const locale = useLocale((state) => state.locale);
  const { ToolApproval } = useSlots();
  const [isOpened, setOpened] = useState(false);
  const callId = String(call.metadata.call_id);
  const question = useChatView((view) => (view.question?.call?.call_id === callId ? view.question : null));
  const output = useChatView((view) => view.outputs[callId]);
  const state = stateOf({ call, result }, question !== null);
  const Icon = iconOf(toolOf(call));
  const { icon: StateIcon, colour } = STATES[state];
  const fact = factOf(result);
  const isOpen = isOpened || output !== undefined;
  return (
    <article aria-label={t('toolCall', { tool: toolOf(call) })} data-state={state} className="overflow-hidden rounded-md border bg-bg">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpened(!isOpen)}
        className="flex min-h-9 w-full items-center gap-2 px-3 text-left text-sm hover:bg-surface pointer-coarse:min-h-11"
      >
        <ChevronRight size={14} aria-hidden className={`shrink-0 text-muted transition-transform ${isOpen ? 'rotate-90' : ''}`} />
        <Icon size={14} aria-hidden className="shrink-0 text-muted" />
        <code className="shrink-0 font-medium">{toolOf(call)}</code>
        <span className="min-w-0 truncate font-mono text-muted">{summaryOf(call)}</span>
        <span className="ml-auto flex shrink-0 items-center gap-2 pl-2 text-xs text-muted">
          {fact && <span className="max-sm:hidden">{t(fact.key, { count: fact.count })}</span>}
          {result && <span className="max-sm:hidden">{duration(locale, call.created_at, result.created_at)}</span>}
          {state !== 'done' && <span className={colour.split(' ')[0]}>{t(state)}</span>}
          <StateIcon size={15} aria-label={t(state)} className={colour} />
        </span>
      </button>
      {isOpen && <ToolDetails call={call} result={result} output={output} />}
      {question && <div className="border-t p-3"><ToolApproval question={question} /></div>}
    </article>
  );
}
