import { Ban, Check, ChevronRight, CircleDashed, CircleStop, CircleX, Clock, LoaderCircle, ShieldX, TriangleAlert, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { useLocale, useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';
import type { Call } from '@/lib/chat/rows';
import { duration } from '@/lib/time';
import { useSlots } from './slots';
import { ToolDetails } from './ToolDetails';
import { exitOf, factOf, iconOf, stateOf, summaryOf, tookOf, toolOf, type CallState } from './toolCall';

const STATES: Record<CallState, { icon: LucideIcon; colour: string }> = {
  proposed: { icon: CircleDashed, colour: 'text-muted' },
  awaiting: { icon: Clock, colour: 'text-major' },
  running: { icon: LoaderCircle, colour: 'text-mode motion-safe:animate-spin' },
  done: { icon: Check, colour: 'text-act' },
  exited: { icon: TriangleAlert, colour: 'text-major' },
  stopped: { icon: CircleStop, colour: 'text-muted' },
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
  // A call that asks has its result at once; what it waits for is the answer.
  const asks = useChatView((view) => view.question !== null && view.question.question_id === result?.metadata.question_id);
  const state = stateOf({ call, result }, question !== null || asks);
  const Icon = iconOf(toolOf(call));
  const { icon: StateIcon, colour } = STATES[state];
  const [fact, took, exit] = [factOf(result), tookOf(result), exitOf(result)];
  const word = state === 'exited' && exit !== null ? t('exitCode', { code: exit }) : t(state);
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
          {took !== null && <span className="max-sm:hidden">{duration(locale, took)}</span>}
          {state !== 'done' && <span className={colour.split(' ')[0]}>{word}</span>}
          <StateIcon size={15} aria-label={word} className={colour} />
        </span>
      </button>
      {isOpen && <ToolDetails call={call} result={result} output={output} />}
      {question && <div className="border-t p-3"><ToolApproval question={question} /></div>}
    </article>
  );
}
