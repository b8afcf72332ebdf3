import { useText } from '@/i18n';

/** Grey bars where rows will be. */
export function Skeleton({ rows = 4, className = '' }: { rows?: number; className?: string }) {
  const t = useText('common');
  return (
    <div role="status" data-loading className={`flex flex-col gap-2 p-4 ${className}`}>
      <span className="sr-only">{t('loading')}</span>
      {Array.from({ length: rows }, (_, row) => <div key={row} className="h-8 rounded-md bg-line motion-safe:animate-pulse" />)}
    </div>
  );
}
