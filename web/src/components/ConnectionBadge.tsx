import { LoaderCircle, WifiOff } from 'lucide-react';
import { useText } from '@/i18n';
import { useChatStore } from '@/lib/chat/store';

/** Seen only when the connection is not live; heard always. */
export function ConnectionBadge() {
  const t = useText('common');
  const connection = useChatStore((state) => state.connection);
  const isLive = connection === 'live';
  const isOffline = connection === 'offline';
  const Icon = isOffline ? WifiOff : LoaderCircle;
  return (
    <span role="status" className={`inline-flex shrink-0 items-center gap-1 text-xs ${isLive ? 'sr-only' : ''} ${isOffline ? 'text-major' : 'text-muted'}`}>
      {!isLive && <Icon size={14} aria-hidden className={isOffline ? '' : 'motion-safe:animate-spin'} />}
      <span className={isLive ? '' : 'max-lg:sr-only'}>{t(connection)}</span>
    </span>
  );
}
