// Files that are pasted into a composer, dropped on it or picked for it.
import { useEffect, useMemo, type ClipboardEvent, type DragEvent } from 'react';
import { useText } from '@/i18n';
import { restoreAttachments } from './attachments';
import { shownName } from './marks';
import { toast, toastError } from './toast';

export function useAttaching(draft: string) {
  const t = useText('composer');
  useEffect(() => void restoreAttachments(draft).catch(() => undefined), [draft]);
  return useMemo(() => {
    const take = (files: File[]) => {
      // A list of files is emptied after its event, so it is copied before the await.
      import('./readAttachments').then(({ attach }) => attach(draft, files)).then((refused) => refused.forEach(({ name, why }) => toast(t(why, { name: shownName(name) }), { isError: true })), toastError);
    };
    const on = {
      onPaste: (event: ClipboardEvent) => {
        // Some programs add a picture to copied text; then only the text is used.
        if (event.clipboardData.files.length === 0 || event.clipboardData.getData('text/plain') !== '') return;
        event.preventDefault();
        take([...event.clipboardData.files]);
      },
      onDragOver: (event: DragEvent) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault();
      },
      onDrop: (event: DragEvent) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        take([...event.dataTransfer.files]);
      },
    };
    return { take, on };
  }, [draft, t]);
}
