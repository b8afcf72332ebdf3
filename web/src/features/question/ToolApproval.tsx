import { ArrowDown } from 'lucide-react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import type { PendingQuestion } from '@/lib/api/types';
import { jumpToQuestion } from './jump';

/** In the card of a call that waits for a decision. The decision itself is made in the bar, where its effects are shown. */
export function ToolApproval({ question }: { question: PendingQuestion }) {
  const t = useText('question');
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm">
      <span className={question.severity === 'critical' ? 'font-semibold text-critical' : 'font-semibold text-major'}>{t('approvalNeeded')}</span>
      {question.call !== undefined && <span className="min-w-0 break-words text-muted">{question.call.reason}</span>}
      <Button onClick={jumpToQuestion} title={t('jump')}>
        {t('answerBelow')}
        <ArrowDown className="size-4" aria-hidden="true" />
      </Button>
    </div>
  );
}
