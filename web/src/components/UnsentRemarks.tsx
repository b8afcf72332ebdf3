import { useRef } from 'react';
import { useText } from '@/i18n';
import { Button } from './Button';
import { Confirm } from './Modal';

/** Asked before a plan is carried out on which remarks were written and not sent. */
export function UnsentRemarks({ isOpen, close, confirm }: { isOpen: boolean; close: () => void; confirm: () => void }) {
  const t = useText('plan');
  const safe = useRef<HTMLButtonElement>(null);
  return (
    <Confirm isOpen={isOpen} close={close} title={t('unsentTitle')} hint={t('unsentHint')} safe={safe}>
      <Button ref={safe} onClick={close}>{t('unsentBack')}</Button>
      <Button look="danger" onClick={confirm}>{t('unsentConfirm')}</Button>
    </Confirm>
  );
}
