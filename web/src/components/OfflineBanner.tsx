import { WifiOff } from 'lucide-react';
import { useText } from '@/i18n';
import { useChatStore } from '@/lib/chat/store';
import { reconnect } from '@/lib/events/bridge';
import { Button } from './Button';

export function OfflineBanner() {
  const t = useText('common');
  const isOffline = useChatStore((state) => state.connection === 'offline');
  if (!isOffline) return null;
  return (
    <div role="alert" className="flex items-center gap-3 bg-major-soft px-4 py-1.5">
      <WifiOff size={16} aria-hidden className="shrink-0 text-major" />
      <span className="min-w-0 flex-1">{t('offlineHint')}</span>
      <Button onClick={reconnect}>{t('retry')}</Button>
    </div>
  );
}
