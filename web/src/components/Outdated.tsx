import { RefreshCw } from 'lucide-react';
import { useText } from '@/i18n';
import { Button } from './Button';

/** In place of a part that the server no longer has, because it is of another version than the page. */
export function Outdated() {
  const t = useText('common');
  return (
    <div role="alert" className="m-4 flex items-center gap-3 rounded-md bg-major-soft p-3">
      <RefreshCw size={15} aria-hidden className="shrink-0 text-major" />
      <p className="min-w-0 flex-1">{t('updated')}</p>
      <Button onClick={() => location.reload()}>{t('reload')}</Button>
    </div>
  );
}
