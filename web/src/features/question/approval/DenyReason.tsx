import { useEffect, useRef, type KeyboardEvent } from 'react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';

interface Props {
  reason: string;
  setReason: (reason: string) => void;
  label: string;
  isHeld: boolean;
  send: () => void;
  close: () => void;
}

/** Why not, in a line that the agent reads. Enter sends it. */
export function DenyReason({ reason, setReason, label, isHeld, send, close }: Props) {
  const t = useText('approval');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const isReady = !isHeld && reason.trim() !== '';
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && isReady) send();
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flex flex-wrap gap-2">
      <input ref={field} value={reason} maxLength={4_000} onChange={(event) => setReason(event.target.value)} onKeyDown={onKeyDown} aria-label={t('reason')} placeholder={t('reasonHint')} className="min-h-8.5 min-w-48 flex-1 rounded-sm border border-control bg-bg px-3 pointer-coarse:min-h-11" />
      <Button disabled={!isReady} onClick={send} className="min-h-8.5">{label}<span aria-hidden className="text-xs text-muted pointer-coarse:hidden">↵</span></Button>
    </div>
  );
}
