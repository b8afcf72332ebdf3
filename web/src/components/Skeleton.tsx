import { useText } from '@/i18n';

/** The shape of the rows to come: still, and only when they take their time. */
export function Skeleton({ rows = 4, className = '' }: { rows?: number; className?: string }) {
  const t = useText('common');
  return (
    <div role="status" data-loading className={`skeleton flex flex-col gap-5 p-4 ${className}`}>
      <span className="sr-only">{t('loading')}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="flex flex-col gap-1.5"><div className="h-2 w-2/3 rounded-full bg-sunken" /><div className="h-2 w-1/3 rounded-full bg-sunken" /></div>
      ))}
    </div>
  );
}
