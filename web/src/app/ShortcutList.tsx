import { Modal } from '@/components/Modal';
import { ShortcutTable } from '@/components/ShortcutTable';
import { useText } from '@/i18n';

export function ShortcutList({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const t = useText('keys');
  return <Modal isOpen={isOpen} close={close} title={t('shortcuts')}><ShortcutTable /></Modal>;
}
