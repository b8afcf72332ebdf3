import { useRef } from 'react';
import { Button } from '@/components/Button';
import { Confirm } from '@/components/Modal';
import { useText } from '@/i18n';

/** A message instead of an answer leaves the question unanswered: said once for each question. */
export function LeaveQuestionDialog({ isOpen, close, confirm }: { isOpen: boolean; close: () => void; confirm: () => void }) {
  const t = useText('chat');
  const safe = useRef<HTMLButtonElement>(null);
  return (
    <Confirm isOpen={isOpen} close={close} title={t('leaveQuestionTitle')} hint={t('leaveQuestionHint')} safe={safe}>
      <Button ref={safe} onClick={close}>{t('backToQuestion')}</Button>
      <Button look="primary" onClick={confirm}>{t('sendAnyway')}</Button>
    </Confirm>
  );
}
