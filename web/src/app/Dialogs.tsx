import { lazy, Suspense, useState } from 'react';
import { closeDialog, useDialog, type OpenDialog } from '@/lib/dialogs';
import { ShortcutList } from './ShortcutList';

const CommandPalette = lazy(() => import('@/features/palette/CommandPalette').then((all) => ({ default: all.CommandPalette })));
const AddFolder = lazy(() => import('@/features/workspace/AddFolder').then((all) => ({ default: all.AddFolder })));
const TrustStep = lazy(() => import('@/features/workspace/TrustStep').then((all) => ({ default: all.TrustStep })));

/** The dialogs that can be asked for from anywhere. Each is loaded when it is first wanted, and stays, so that closing gives the focus back. */
export function Dialogs() {
  const open = useDialog((state) => state.open);
  const [wanted, setWanted] = useState<{ [K in OpenDialog['kind']]?: OpenDialog }>({});
  if (open && wanted[open.kind] !== open) setWanted({ ...wanted, [open.kind]: open });
  const isOpen = (kind: OpenDialog['kind']) => open?.kind === kind;
  return (
    <Suspense>
      {wanted.shortcuts && <ShortcutList isOpen={isOpen('shortcuts')} close={closeDialog} />}
      {wanted.palette && <CommandPalette isOpen={isOpen('palette')} />}
      {wanted['add-folder'] && <AddFolder isOpen={isOpen('add-folder')} />}
      {wanted.trust?.kind === 'trust' && <TrustStep isOpen={isOpen('trust')} workspaceId={wanted.trust.workspace} />}
    </Suspense>
  );
}
