import { X } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { Button } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { Modal } from '@/components/Modal';
import { useText } from '@/i18n';
import { useRemarks } from '@/lib/chat/remarks';
import { shownText } from '@/lib/marks';
import { problemLine } from '@/lib/problems';
import { toast } from '@/lib/toast';
import { type DraftComment, stepOf } from '@/lib/chat/planDrafts';
import { useReview } from './review';

/** All comments, and one on the plan as a whole: sent to the Planner together. */
export function RequestDialog({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const t = useText('planPage');
  const { draft, shown, plan } = useReview();
  const remarks = useRemarks(plan, shown.revision);
  const [sending, setSending] = useState(false);
  // The same for every attempt, so that a message whose answer got lost is not sent twice.
  const key = useRef(crypto.randomUUID());
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!draft.has || sending) return;
    setSending(true);
    setProblem(null);
    try {
      await remarks.send(key.current);
      key.current = crypto.randomUUID();
      close();
      toast(t('sent'));
    } catch (error) {
      setProblem(await problemLine(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <Modal isOpen={isOpen} close={close} title={t('requestTitle')}>
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
        <p className="text-fg2">{t('requestHint')}</p>
        {draft.written.length === 0 ? <p className="text-muted">{t('noComments')}</p> : <ul className="flex flex-col divide-y border-y">{draft.written.map((one) => <Comment key={one.id} comment={one} />)}</ul>}
        <label className="flex flex-col gap-1 font-medium">
          {t('whole')}
          <textarea value={draft.whole} onChange={(event) => draft.setWhole(event.target.value)} rows={2} className="field-sizing-content max-h-40 min-h-14 w-full rounded-sm border border-control bg-bg px-2.5 py-1.5 font-normal" />
        </label>
        {problem !== null && <p role="alert" className="text-critical">{problem}</p>}
        <Button type="submit" look="primary" disabled={!draft.has || sending} className="self-end">{sending ? t('sending') : t('send')}</Button>
      </form>
    </Modal>
  );
}

function Comment({ comment }: { comment: DraftComment }) {
  const t = useText('planPage');
  const { draft } = useReview();
  const step = stepOf(comment, draft.keys);
  return (
    <li className="flex items-start gap-2 py-2">
      <div className="min-w-0 flex-1">
        <p className="truncate text-xs text-muted">{step === null ? t('wholePlan') : t('onStep', { step })}{comment.quote !== '' && ` ${t('on', { quote: shownText(comment.quote) })}`}</p>
        <p className="break-words whitespace-pre-wrap">{shownText(comment.text)}</p>
      </div>
      <IconButton label={t('discardComment')} onClick={() => draft.discard(comment.id)} className="size-7"><X className="size-3.5" aria-hidden="true" /></IconButton>
    </li>
  );
}
