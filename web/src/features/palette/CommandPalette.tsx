import { Command } from 'cmdk';
import { useState } from 'react';
import { Modal } from '@/components/Modal';
import { useText } from '@/i18n';
import { closeDialog } from '@/lib/dialogs';
import { Entries } from './Entries';

/** Everything by its name: commands, chats, files, and what was said. */
export function CommandPalette({ isOpen, text }: { isOpen: boolean; text: string }) {
  const t = useText('palette');
  return <Modal isOpen={isOpen} close={closeDialog} title={t('title')} isWide><Palette text={text} /></Modal>;
}

function Palette({ text }: { text: string }) {
  const t = useText('palette');
  const [typed, setTyped] = useState(text);
  return (
    <Command label={t('title')} loop className="flex h-[min(30rem,70dvh)] min-h-0 flex-col">
      <Command.Input value={typed} onValueChange={setTyped} autoFocus placeholder={t('placeholder')} className="min-h-10 rounded-sm border border-control bg-bg px-3 outline-none placeholder:text-muted focus-visible:outline-2" />
      <Command.List label={t('title')} className="mt-2 min-h-0 flex-1 overflow-y-auto">
        <Entries typed={typed.trim()} />
      </Command.List>
    </Command>
  );
}
