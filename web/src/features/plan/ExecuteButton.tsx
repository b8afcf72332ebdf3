import { LoaderCircle } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { Button, offClass } from '@/components/Button';
import { Confirm } from '@/components/Modal';
import { Tip } from '@/components/Tip';
import { UnsentRemarks } from '@/components/UnsentRemarks';
import { useText } from '@/i18n';
import { useChatActions, useChatView } from '@/lib/chat/context';
import { type DriftedFile, useDrift } from '@/lib/chat/drift';
import type { ExecuteHindrance, Revision } from './model';
import type { useFeedback } from './useFeedback';
import { problemLine } from '@/lib/problems';

interface Props {
  revision: Revision;
  newest: Revision;
  hindrance: ExecuteHindrance | undefined;
  feedback: ReturnType<typeof useFeedback>;
  onProblem: (problem: string | null) => void;
}

/** Approves the plan and starts. Where that is not possible it stays focusable and says why. */
export function ExecuteButton({ revision, newest, hindrance, feedback, onProblem }: Props) {
  const t = useText('plan');
  const reasonId = useId();
  const { execute } = useChatActions();
  // One button of a view stands out: what is asked comes first, then what was written.
  const isOutranked = useChatView((view) => view.question !== null || view.suggestion !== null) || feedback.has;
  const [starting, setStarting] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [drifted, setDrifted] = useState<DriftedFile[]>([]);
  const drift = useDrift(revision.sha256, false);
  const reason = useHindranceText(hindrance, newest);
  const press = () => {
    if (hindrance !== undefined || starting) return;
    if (feedback.has) setAsking(true);
    else void start();
  };
  const start = async (isAgreed = false) => {
    setAsking(false);
    setDrifted([]);
    setStarting(true);
    onProblem(null);
    try {
      const files = isAgreed ? [] : await drift.look();
      if (files.length > 0) return setDrifted(files);
      await execute(revision.planFile);
      feedback.discard();
    } catch (error) {
      onProblem(await problemLine(error));
    } finally {
      setStarting(false);
    }
  };
  return (
    <>
      <Tip text={reason ?? t('executeHint')}>
        <Button
          data-execute
          look={isOutranked ? 'secondary' : 'primary'}
          aria-disabled={hindrance !== undefined || starting}
          aria-describedby={reason === undefined ? undefined : reasonId}
          aria-keyshortcuts="Control+Enter"
          onClick={press}
          className={hindrance === undefined ? '' : `${offClass} opacity-100!`}
        >
          {starting && <LoaderCircle className="size-4 animate-spin" aria-hidden="true" />}
          {starting ? t('executing') : t('execute')}
        </Button>
      </Tip>
      <UnsentRemarks isOpen={isAsking} close={() => setAsking(false)} confirm={() => void start()} />
      <DriftDialog files={drifted} close={() => setDrifted([])} confirm={() => void start(true)} />
      {reason !== undefined && (
        <span id={reasonId} className="text-xs text-muted">
          {reason}
        </span>
      )}
    </>
  );
}

/** Asked before a plan is carried out whose files are not as it found them. */
export function DriftDialog({ files, close, confirm }: { files: DriftedFile[]; close: () => void; confirm: () => void }) {
  const t = useText('plan');
  const common = useText('common');
  const safe = useRef<HTMLButtonElement>(null);
  const words = { new: t('driftNew'), changed: t('driftChanged'), deleted: t('driftDeleted') };
  const list = files.slice(0, 20).map((file) => file.path + common('aside', { text: words[file.change] ?? file.change }));
  return (
    <Confirm isOpen={files.length > 0} close={close} title={t('driftTitle')} hint={`${list.join(', ')}. ${t('driftBefore')}`} safe={safe}>
      <Button ref={safe} onClick={close}>{t('unsentBack')}</Button>
      <Button look="danger" onClick={confirm}>{t('driftConfirm')}</Button>
    </Confirm>
  );
}

export function useHindranceText(hindrance: ExecuteHindrance | undefined, newest: Revision): string | undefined {
  const t = useText('plan');
  if (hindrance === undefined) return undefined;
  const words: Record<ExecuteHindrance, string> = {
    viewer: t('hindranceViewer'),
    offline: t('hindranceOffline'),
    newer: newest.isEdited ? t('hindranceEdited') : t('hindranceNewer', { revision: newest.revision }),
    gone: t('hindranceGone'),
    running: t('hindranceRunning'),
    executed: t('hindranceExecuted'),
    question: t('hindranceQuestion'),
    files: t('hindranceFiles'),
  };
  return words[hindrance];
}
