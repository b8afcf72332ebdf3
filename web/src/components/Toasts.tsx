import { CircleAlert, Info, X } from 'lucide-react';
import { useText } from '@/i18n';
import { dismiss, useToasts } from '@/lib/toast';
import { Button } from './Button';
import { IconButton } from './IconButton';

export function Toasts() {
  const t = useText('common');
  const toasts = useToasts((state) => state.toasts);
  return (
    <section aria-label={t('notifications')} className="pointer-events-none fixed inset-x-0 top-16 z-50 flex flex-col items-center gap-2 px-4">
      {toasts.map((toast) => (
        <div
          key={toast.id}
          role={toast.isError ? 'alert' : 'status'}
          className={`pointer-events-auto flex max-w-xl items-center gap-2 rounded-md border border-line2 bg-raised py-1 pr-1 pl-3 shadow-raised`}
        >
          {toast.isError ? <CircleAlert size={15} aria-hidden className="shrink-0 text-critical" /> : <Info size={15} aria-hidden className="shrink-0 text-fg2" />}
          <span className="min-w-0 break-words">{toast.text}{toast.detail && <span className="block text-fg2">{toast.detail}</span>}</span>
          {toast.action && (
            <Button look="quiet" onClick={() => { toast.action?.run(); dismiss(toast.id); }}>{toast.action.label}</Button>
          )}
          <IconButton label={t('close')} onClick={() => dismiss(toast.id)}><X size={14} aria-hidden /></IconButton>
        </div>
      ))}
    </section>
  );
}
