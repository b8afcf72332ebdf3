import { CircleAlert, WifiOff } from 'lucide-react';
import { useText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { Button } from './Button';

/** Part of a page that could not be loaded: why, and another try. */
export function Failed({ error, retry }: { error: Error; retry: () => void }) {
  const t = useText('common');
  const isOffline = error instanceof ApiError && error.status === 0;
  const Icon = isOffline ? WifiOff : CircleAlert;
  return (
    <div role="alert" className="m-4 flex flex-col items-start gap-2 rounded-md border border-critical bg-critical-soft p-3 text-critical">
      <p className="flex items-start gap-2">
        <Icon size={16} aria-hidden className="mt-0.5 shrink-0" />
        <span className="min-w-0 break-words"><strong>{isOffline ? t('offline') : t('failed')}.</strong> {isOffline ? t('unreachable') : error.message}</span>
      </p>
      <Button onClick={retry}>{t('retry')}</Button>
    </div>
  );
}
