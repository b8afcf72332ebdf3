import { LoaderCircle, Play } from 'lucide-react';
import { useId, useState } from 'react';
import { Button } from '@/components/Button';
import { Tip } from '@/components/Tip';
import { useText } from '@/i18n';
import { useChatActions } from '@/lib/chat/context';
import type { ExecuteHindrance, Revision } from './model';

interface Props {
  revision: Revision;
  newest: Revision;
  hindrance: ExecuteHindrance | undefined;
  onProblem: (problem: string | null) => void;
}

/** Approves the plan and starts. Where that is not possible it stays focusable and says why. */
export function ExecuteButton({ revision, newest, hindrance, onProblem }: Props) {
  const t = useText('plan');
  const reasonId = useId();
  const { execute } = useChatActions();
  const [starting, setStarting] = useState(false);
  const reason = useHindranceText(hindrance, newest.revision);
  const start = async () => {
    if (hindrance !== undefined || starting) return;
    setStarting(true);
    onProblem(null);
    try {
      await execute(revision.planFile);
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setStarting(false);
    }
  };
  return (
    <>
      <Tip text={reason ?? t('executeHint')}>
        <Button
          data-execute
          data-mode="act"
          look="primary"
          aria-disabled={hindrance !== undefined || starting}
          aria-describedby={reason === undefined ? undefined : reasonId}
          aria-keyshortcuts="Control+Enter"
          onClick={() => void start()}
          className={hindrance === undefined ? '' : 'cursor-not-allowed'}
        >
          {starting ? <LoaderCircle className="size-4 animate-spin" aria-hidden="true" /> : <Play className="size-4" aria-hidden="true" />}
          {starting ? t('executing') : t('execute')}
        </Button>
      </Tip>
      {reason !== undefined && (
        <span id={reasonId} className="text-sm text-muted">
          {reason}
        </span>
      )}
    </>
  );
}

function useHindranceText(hindrance: ExecuteHindrance | undefined, newest: number): string | undefined {
  const t = useText('plan');
  if (hindrance === undefined) return undefined;
  const words: Record<ExecuteHindrance, string> = {
    viewer: t('hindranceViewer'),
    offline: t('hindranceOffline'),
    newer: t('hindranceNewer', { revision: newest }),
    running: t('hindranceRunning'),
    executed: t('hindranceExecuted'),
    question: t('hindranceQuestion'),
  };
  return words[hindrance];
}
