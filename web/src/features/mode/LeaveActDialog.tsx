import { useRef } from 'react';
import { Button } from '@/components/Button';
import { Confirm } from '@/components/Modal';
import { useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';
import { requestSwitch, useSwitching } from './switching';

const dismiss = () => useSwitching.setState({ unconfirmed: null });

/** Work is in progress and the switch would stop it: says which, and asks. */
export function LeaveActDialog() {
  const t = useText('switching');
  const safe = useRef<HTMLButtonElement>(null);
  const unconfirmed = useSwitching((state) => state.unconfirmed);
  const progress = useChatView((view) => view.chat.progress);
  const isWaiting = useChatView((view) => view.chat.state === 'awaiting_answer');
  const step = progress?.steps.find((one) => one.status === 'in_progress');
  const what =
    step && progress
      ? t('leaveStep', { number: step.step_number, total: progress.total, action: step.action })
      : isWaiting
        ? t('leaveQuestion')
        : t('leaveRun');
  const confirm = () => {
    if (unconfirmed) void requestSwitch(unconfirmed.workspaceId, unconfirmed.chatId, { ...unconfirmed.change, confirm: true });
  };
  return (
    <Confirm isOpen={unconfirmed !== null} close={dismiss} title={t('leaveTitle')} hint={`${what} ${t('leaveHint')}`} safe={safe}>
      <Button ref={safe} onClick={dismiss}>{t('keepWorking')}</Button>
      <Button look="danger" onClick={confirm}>{t('stopAndSwitch')}</Button>
    </Confirm>
  );
}
