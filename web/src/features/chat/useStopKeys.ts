import { useEffect, useRef } from 'react';
import { useChatActions, useChatView } from '@/lib/chat/context';
import { isInProgress } from '@/lib/chat/view';
import { toastError } from '@/lib/toast';

/** Escape twice within this time stops the run. */
const TWICE = 1000;
/** What takes an Escape for itself, as long as it is open. */
const OVERLAYS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]:not([hidden])';

/** Escape twice, anywhere on the chat's page, stops what is in progress, also what waits for an answer. */
export function useStopKeys(): void {
  const { stop } = useChatActions();
  const isStoppable = useChatView(isInProgress);
  const escaped = useRef(0);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || event.repeat) return;
      if (document.querySelector(OVERLAYS) !== null) return;
      if (isStoppable && event.timeStamp - escaped.current < TWICE) {
        escaped.current = 0;
        void stop().catch(toastError);
      } else escaped.current = event.timeStamp;
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [stop, isStoppable]);
}
