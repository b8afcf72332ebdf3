import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useRef, type ReactNode, type RefObject } from 'react';
import { useText } from '@/i18n';
import { IconButton } from './IconButton';
import { popupClass } from './Popup';

const backdrop = 'fixed inset-0 z-40 bg-black/45';
const centred = `fixed top-1/2 left-1/2 max-h-[calc(100dvh-2rem)] -translate-x-1/2 -translate-y-1/2 overflow-y-auto p-5 ${popupClass}`;

/** Wide ones are for what has code in it. */
const widths = { usual: 'w-[min(28rem,calc(100vw-2rem))]', wide: 'w-[min(46rem,calc(100vw-2rem))]' };

interface Props {
  isOpen: boolean;
  close: () => void;
  title: string;
  children: ReactNode;
}

/** `initial` gets the focus; else the first thing that can have it, or the title of what is to be read first. */
export function Modal({ isOpen, close, title, initial, isWide = false, isRead = false, children }: Props & { initial?: RefObject<HTMLElement | null>; isWide?: boolean; isRead?: boolean }) {
  const t = useText('common');
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={backdrop} />
        <Dialog.Popup className={`${centred} ${isWide ? widths.wide : widths.usual}`} initialFocus={isRead ? heading : initial}>
          <div className="mb-3 flex items-start justify-between gap-2">
            <Dialog.Title ref={heading} tabIndex={isRead ? -1 : undefined} className="min-w-0 text-lg font-semibold break-words outline-none">{title}</Dialog.Title>
            <Dialog.Close render={<IconButton label={t('close')}><X size={16} aria-hidden /></IconButton>} />
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Asks before something that can't be undone. `safe` gets the focus: the button that changes nothing. */
export function Confirm({ isOpen, close, title, hint, safe, children }: Props & { hint: string; safe: RefObject<HTMLButtonElement | null> }) {
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={backdrop} />
        <AlertDialog.Popup className={`${centred} ${widths.usual}`} initialFocus={safe}>
          <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description className="mt-1 text-muted">{hint}</AlertDialog.Description>
          <div className="mt-4 flex flex-wrap justify-end gap-2">{children}</div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** Slides in from a side: the list of chats and the panel on small screens. */
export function Sheet({ isOpen, close, title, side, children }: Props & { side: 'left' | 'right' | 'bottom' }) {
  const t = useText('common');
  const sides = {
    left: 'inset-y-0 left-0 w-[min(20rem,85vw)] rounded-none border-y-0 border-l-0',
    right: 'inset-y-0 right-0 w-[min(34rem,90vw)] rounded-none border-y-0 border-r-0',
    bottom: 'inset-x-0 bottom-0 h-[85dvh] rounded-b-none',
  };
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={backdrop} />
        <Dialog.Popup className={`fixed flex flex-col ${popupClass} ${sides[side]}`}>
          <div className="flex h-12 shrink-0 items-center justify-between border-b pr-2 pl-4">
            <Dialog.Title className="font-semibold">{title}</Dialog.Title>
            <Dialog.Close render={<IconButton label={t('close')}><X size={16} aria-hidden /></IconButton>} />
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
