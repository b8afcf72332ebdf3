import { useState } from 'react';
import { part } from '@/components/part';
import { withWords } from '@/i18n';
import { closeDialog, useDialog, type OpenDialog } from '@/lib/dialogs';

const ShortcutList = part(() => withWords('keys', import('./ShortcutList')).then((all) => all.ShortcutList), null);
const CommandPalette = part(() => withWords('palette', import('@/features/palette/CommandPalette')).then((all) => all.CommandPalette), null);
const AddFolder = part(() => import('@/features/workspace/AddFolder').then((all) => all.AddFolder), null);
const TrustStep = part(() => withWords('workspace', withWords('trust', import('@/features/workspace/TrustStep'))).then((all) => all.TrustStep), null);

/** The dialogs that can be asked for from anywhere. Each is loaded when it is first wanted, and stays, so that closing gives the focus back. */
export function Dialogs() {
  const open = useDialog((state) => state.open);
  const [wanted, setWanted] = useState<{ [K in OpenDialog['kind']]?: OpenDialog }>({});
  if (open && wanted[open.kind] !== open) setWanted({ ...wanted, [open.kind]: open });
  const isOpen = (kind: OpenDialog['kind']) => open?.kind === kind;
  return (
    <>
      {wanted.shortcuts && <ShortcutList isOpen={isOpen('shortcuts')} close={closeDialog} />}
      {wanted.palette?.kind === 'palette' && <CommandPalette isOpen={isOpen('palette')} text={wanted.palette.text ?? ''} />}
      {wanted['add-folder'] && <AddFolder isOpen={isOpen('add-folder')} />}
      {wanted.trust?.kind === 'trust' && <TrustStep isOpen={isOpen('trust')} workspaceId={wanted.trust.workspace} />}
    </>
  );
}
