// Dialogs and sheets, loaded when the first one opens.
import { lazy, Suspense, useState, type ComponentProps } from 'react';
import type * as Parts from './ModalParts';

const parts = () => import('./ModalParts');
const LazyModal = lazy(() => parts().then((all) => ({ default: all.Modal })));
const LazyConfirm = lazy(() => parts().then((all) => ({ default: all.Confirm })));
const LazySheet = lazy(() => parts().then((all) => ({ default: all.Sheet })));

export function Modal(props: ComponentProps<typeof Parts.Modal>) {
  return useWasOpen(props.isOpen) && <Suspense><LazyModal {...props} /></Suspense>;
}

export function Confirm(props: ComponentProps<typeof Parts.Confirm>) {
  return useWasOpen(props.isOpen) && <Suspense><LazyConfirm {...props} /></Suspense>;
}

export function Sheet(props: ComponentProps<typeof Parts.Sheet>) {
  return useWasOpen(props.isOpen) && <Suspense><LazySheet {...props} /></Suspense>;
}

/** It stays once it has been open, so that closing gives the focus back. */
function useWasOpen(isOpen: boolean): boolean {
  const [wasOpen, setWasOpen] = useState(isOpen);
  if (isOpen && !wasOpen) setWasOpen(true);
  return wasOpen;
}
