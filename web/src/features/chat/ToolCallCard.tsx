import { Ban, CircleDashed, CirclePause, CircleStop, CircleX, LoaderCircle, TriangleAlert, X, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { FileLink } from '@/components/FileLink';
import { LineCounts } from '@/components/LineCounts';
import { useLocale, useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';
import type { Call } from '@/lib/chat/rows';
import { duration } from '@/lib/time';
import { ActivityLine } from './ActivityLine';
import { ToolDetails } from './ToolDetails';
import { linesIn } from './burst';
import { exitOf, factOf, fileOf, stateOf, summaryOf, tookOf, toolOf, type CallState } from './toolCall';

/** Every state but `done` is told by an icon and a word. */
const STATES: Record<Exclude<CallState, 'done'>, { icon: LucideIcon; colour: string }> = {
  proposed: { icon: CircleDashed, colour: 'text-muted' },
  awaiting: { icon: CirclePause, colour: 'text-major' },
  running: { icon: LoaderCircle, colour: 'text-mode motion-safe:animate-spin' },
  exited: { icon: TriangleAlert, colour: 'text-critical' },
  stopped: { icon: CircleStop, colour: 'text-muted' },
  denied: { icon: X, colour: 'text-muted' },
  failed: { icon: CircleX, colour: 'text-critical' },
  blocked: { icon: Ban, colour: 'text-muted' },
};

/** The card of a call whose result has not come, or is looked up. */
export function ToolCallCard({ message }: { message: Message }) {
  return <CallCard call={message} result={null} />;
}

/** A call and what came of it: one line, and all of it when opened. */
export function CallCard({ call, result }: Call) {
  const t = useText('chat');
  const locale = useLocale((state) => state.locale);
  const [isOpened, setOpened] = useState(false);
  const callId = String(call.metadata.call_id);
  const output = useChatView((view) => view.outputs[callId]);
  // A call that asks has its result at once; what it waits for is the answer.
  const isAwaited = useChatView(({ question }) => question !== null && (question.call?.call_id === callId || question.question_id === result?.metadata.question_id));
  const state = stateOf({ call, result }, isAwaited);
  const look = state === 'done' ? null : STATES[state];
  const [fact, took, exit] = [factOf(result), tookOf(result), exitOf(result)];
  const lines = linesIn([{ call, result }]);
  const word = state === 'exited' && exit !== null ? t('exitCode', { code: exit }) : t(state);
  const isOpen = isOpened || output !== undefined;
  const isCommand = toolOf(call) === 'run';
  const file = fileOf(call);
  return (
    <article aria-label={t('toolCall', { tool: toolOf(call) })} data-state={state}>
      <ActivityLine isOpen={isOpen} toggle={() => setOpened(!isOpen)} mark={look && <look.icon size={14} aria-hidden className={look.colour} />}>
        {!isCommand && <span className="shrink-0">{toolOf(call)}</span>}
        <code className="min-w-0 truncate">{file ? <FileLink place={file} className="pointer-events-auto">{summaryOf(call)}</FileLink> : summaryOf(call)}</code>
        <LineCounts {...lines} />
        <span className="flex shrink-0 items-center gap-2 text-muted">
          {fact && <span className="max-sm:hidden">{t(fact.key, { count: fact.count })}</span>}
          {took !== null && <span className="max-sm:hidden">{duration(locale, took)}</span>}
          {look && <span className={look.colour.split(' ')[0]}>{word}</span>}
        </span>
      </ActivityLine>
      {isOpen && <ToolDetails call={call} result={result} output={output} />}
    </article>
  );
}
