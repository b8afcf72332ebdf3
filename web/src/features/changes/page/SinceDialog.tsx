import { Undo2 } from 'lucide-react';
import { Modal } from '@/components/Modal';
import { useText } from '@/i18n';
import { askRevert } from '@/lib/chat/revert';
import { cut } from '@/lib/cut';
import { shownText } from '@/lib/marks';
import type { Cause } from './model';

/** The messages that changed files: everything since one of them can be taken back. */
export function SinceDialog({ isOpen, close, causes }: { isOpen: boolean; close: () => void; causes: Cause[] }) {
  const t = useText('changesPage');
  const choose = (id: string) => {
    close();
    askRevert(id);
  };
  return (
    <Modal isOpen={isOpen} close={close} title={t('sinceTitle')}>
      <p className="mb-2 text-fg2">{causes.length > 0 ? t('sinceHint') : t('sinceNone')}</p>
      <ul className="flex flex-col">
        {causes.map((cause) => (
          <li key={cause.id} className="border-t first:border-t-0">
            <button type="button" onClick={() => choose(cause.id)} className="flex min-h-9 w-full items-center gap-2 rounded-sm px-2 py-1.5 text-left hover:bg-surface pointer-coarse:min-h-11">
              <Undo2 size={14} aria-hidden className="shrink-0 text-fg2" />
              <span className="min-w-0 flex-1 break-words">{shownText(cut(cause.words.replaceAll(/\s+/g, ' '), 160))}</span>
              <span className="shrink-0 text-xs text-muted">{t('files', { count: cause.count })}</span>
            </button>
          </li>
        ))}
      </ul>
    </Modal>
  );
}
