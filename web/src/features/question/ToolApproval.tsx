import { ArrowDown } from 'lucide-react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import type { PendingQuestion } from '@/lib/api/types';
import { jumpToQuestion } from './jump';

/** In the card of a call that waits for a decision. The decision itself is made in the bar, where its effects are shown. */
export function ToolApproval({ question }: { question: PendingQuestion }) {
  const t = useText('question');
  const isAfter = (question.call as { moment?: unknown } | undefined)?.moment === 'after';
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm">
      <span className={`flex-1 font-semibold ${question.severity === 'critical' ? 'text-critical' : 'text-major'}`}>{isAfter ? t('keepNeeded') : t('approvalNeeded')}</span>
      <Button onClick={jumpToQuestion} title={t('jump')}>
        {t('answerBelow')}
        <ArrowDown className="size-4" aria-hidden="true" />
      </Button>
    </div>
  );
}
