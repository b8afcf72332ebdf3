import { LoaderCircle, Wifi, WifiOff } from 'lucide-react';
import { useText } from '@/i18n';
import { useChatStore } from '@/lib/chat/store';

/** Whether what is shown is up to date. */
export function ConnectionBadge() {
  const t = useText('common');
  const connection = useChatStore((state) => state.connection);
  const isLive = connection === 'live';
  const Icon = isLive ? Wifi : connection === 'offline' ? WifiOff : LoaderCircle;
  return (
    <span role="status" className={`inline-flex shrink-0 items-center gap-1 text-xs ${isLive ? 'max-sm:sr-only' : ''} ${connection === 'offline' ? 'text-critical' : 'text-muted'}`}>
      <Icon size={14} aria-hidden className={isLive || connection === 'offline' ? '' : 'motion-safe:animate-spin'} />
      <span className={isLive ? 'max-lg:sr-only' : 'sm:max-lg:sr-only'}>{t(connection)}</span>
    </span>
  );
}
