import { Check, CircleDashed, LoaderCircle, SkipForward, type LucideIcon } from 'lucide-react';
import { Words } from '@/components/Words';
import { useLocale, useText } from '@/i18n';
import type { StepStatus } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';
import type { Call } from '@/lib/chat/rows';
import { isBusy } from '@/lib/chat/view';
import { longDuration } from '@/lib/time';

const MARKS: Record<StepStatus, LucideIcon> = { pending: CircleDashed, in_progress: LoaderCircle, done: Check, skipped: SkipForward };

/** What is done for a step of the plan begins here. */
export function StepHeading({ step, calls }: { step: number; calls: Call[] }) {
  const t = useText('chat');
  const locale = useLocale((state) => state.locale);
  const isWorking = useChatView(isBusy);
  const status = statusIn(calls.at(-1));
  const action = useChatView((view) => view.chat.progress?.steps.find((one) => one.step_number === step)?.action ?? '');
  const Icon = MARKS[status];
  const isOver = status === 'done' || status === 'skipped';
  const took = isOver && calls.length > 1 ? Date.parse(calls.at(-1)?.call.created_at ?? '') - Date.parse(calls[0]?.call.created_at ?? '') : 0;
  return (
    <h2 className="flex min-w-0 items-baseline gap-2.5 border-b pt-2 pb-1.5 text-sm">
      <Icon size={15} aria-hidden className={`shrink-0 self-center ${isOver ? 'text-fg2' : 'text-mode'} ${status === 'in_progress' && isWorking ? 'motion-safe:animate-spin' : ''}`} />
      <span className="shrink-0 font-semibold">{t('step', { step })}</span>
      <span className="min-w-0 flex-1"><Words text={action} /></span>
      <span className="sr-only">{t(`step_${status}`)}</span>
      {took >= 1000 && <span className="shrink-0 text-xs text-muted">{longDuration(locale, took)}</span>}
    </h2>
  );
}

function statusIn(last: Call | undefined): StepStatus {
  const { status } = (last?.call.metadata.args ?? {}) as { status?: string };
  return status !== undefined && status in MARKS ? (status as StepStatus) : 'pending';
}
