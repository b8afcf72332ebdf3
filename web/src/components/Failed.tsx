import { CircleAlert, WifiOff } from 'lucide-react';
import { useText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { useExplain } from '@/lib/problems';
import { Button } from './Button';

/** Part of a page that could not be loaded: why, and another try. */
export function Failed({ error, retry }: { error: Error; retry: () => void }) {
  const t = useText('common');
  const { title, detail } = useExplain()(error);
  const isOffline = error instanceof ApiError && error.status === 0;
  const Icon = isOffline ? WifiOff : CircleAlert;
  return (
    <div role="alert" className="m-4 flex items-start gap-3 rounded-lg border border-line2 p-3">
      <Icon size={15} aria-hidden className={`mt-0.5 shrink-0 ${isOffline ? 'text-major' : 'text-critical'}`} />
      <div className="min-w-0 flex-1">
        <p className="font-semibold">{isOffline ? t('unreachable') : t('failed')}</p>
        <p className="break-words text-fg2">{isOffline ? t('unreachableHint') : title}</p>
        {!isOffline && detail && <p className="break-words text-muted">{detail}</p>}
      </div>
      <Button onClick={retry} className="shrink-0">{t('retry')}</Button>
    </div>
  );
}
