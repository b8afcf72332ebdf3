import { useState } from 'react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { problemLine } from '@/lib/problems';
import type { useFeedback } from './useFeedback';

interface Props {
  step: number;
  feedback: ReturnType<typeof useFeedback>;
  close: () => void;
}

/** A remark on one step. All remarks are sent together, from wherever one is written: nothing else moves while typing. */
export function StepComment({ step, feedback, close }: Props) {
  const t = useText('plan');
  const [problem, setProblem] = useState<string | null>(null);
  const send = () => feedback.submit().then(close, async (error: unknown) => setProblem(await problemLine(error)));
  const discard = () => {
    feedback.remark(step, '');
    close();
  };
  return (
    <div className="mt-2 flex flex-col gap-1.5">
      <textarea
        autoFocus
        rows={2}
        value={feedback.remarkOn(step)}
        aria-label={t('commentLabel', { step })}
        placeholder={t('commentPlaceholder')}
        onChange={(event) => feedback.remark(step, event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
          if (feedback.has) void send();
        }}
        className="field-sizing-content max-h-40 min-h-14 w-full rounded-sm border border-control bg-bg px-2 py-1"
      />
      {problem !== null && (
        <p role="alert" className="text-sm text-critical">
          {problem}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" data-mode="plan" disabled={!feedback.has} onClick={() => void send()}>
          {t('sendFeedback')}
        </Button>
        <Button look="quiet" onClick={discard}>
          {t('discard')}
        </Button>
        {feedback.count > 1 && <span className="text-sm text-muted">{t('comments', { count: feedback.count })}</span>}
      </div>
    </div>
  );
}
