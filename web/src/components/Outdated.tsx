import { RefreshCw } from 'lucide-react';
import { useText } from '@/i18n';
import { Button } from './Button';

/** In place of a part that the server no longer has, because it is of another version than the page. */
export function Outdated() {
  const t = useText('common');
  return (
    <div role="alert" className="m-4 flex flex-col items-start gap-2 rounded-md border border-major bg-major-soft p-3 text-major">
      <p className="flex items-start gap-2"><RefreshCw size={16} aria-hidden className="mt-0.5 shrink-0" />{t('updated')}</p>
      <Button onClick={() => location.reload()}>{t('reload')}</Button>
    </div>
  );
}
