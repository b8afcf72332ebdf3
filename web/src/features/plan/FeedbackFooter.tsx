import { MessageSquareText } from 'lucide-react';
import { useState } from 'react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import type { useFeedback } from './useFeedback';
import { problemLine } from '@/lib/problems';

interface Props {
  feedback: ReturnType<typeof useFeedback>;
  onSent: () => void;
  onProblem: (problem: string | null) => void;
}

/** The remark on the plan as a whole, and the button that sends it with those on the steps. */
export function FeedbackFooter({ feedback, onSent, onProblem }: Props) {
  const t = useText('plan');
  const [sending, setSending] = useState(false);
  const send = async () => {
    setSending(true);
    onProblem(null);
    try {
      await feedback.submit();
      onSent();
    } catch (error) {
      onProblem(await problemLine(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <div className="flex w-full flex-col gap-2">
      <label className="flex flex-col gap-1 text-sm font-medium">
        {t('whole')}
        <textarea
          rows={2}
          value={feedback.whole}
          placeholder={t('wholePlaceholder')}
          onChange={(event) => feedback.setWhole(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
            event.stopPropagation();
            if (feedback.has) void send();
          }}
          className="field-sizing-content min-h-14 max-h-40 w-full rounded-sm border border-control bg-bg px-2 py-1 font-normal"
        />
      </label>
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" data-mode="plan" disabled={!feedback.has || sending} onClick={() => void send()}>
          <MessageSquareText className="size-4" aria-hidden="true" />
          {t('sendFeedback')}
        </Button>
        <Button
          look="quiet"
          onClick={() => {
            feedback.discard();
            onSent();
          }}
        >
          {t('discard')}
        </Button>
        {feedback.count > 0 && <span className="text-sm text-muted">{t('comments', { count: feedback.count })}</span>}
      </div>
    </div>
  );
}
