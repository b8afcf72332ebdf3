import { closeDialog } from '@/lib/dialogs';
import { Modal } from '@/components/Modal';
export function CommandPalette({ isOpen }: { isOpen: boolean }) {
  return <Modal isOpen={isOpen} close={closeDialog} title="…">{null}</Modal>;
}
