import type { UseQueryResult } from '@tanstack/react-query';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '@/i18n';
import { Button } from './Button';

/** What was asked of the server: while it is on its way, when it could not be had, and when it is there. */
export function Loaded<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  const t = useText('common');
  if (query.data !== undefined) return children(query.data);
  if (query.error) {
    return (
      <div role="alert" className="flex flex-wrap items-center gap-3 rounded-md border border-critical bg-critical-soft px-3 py-2 text-critical">
        <CircleAlert size={16} aria-hidden className="shrink-0" />
        <p className="min-w-0 flex-1 break-words">{query.error.message}</p>
        <Button onClick={() => void query.refetch()}>{t('retry')}</Button>
      </div>
    );
  }
  return (
    <div role="status" className="flex flex-col gap-2">
      <span className="sr-only">{t('loading')}</span>
      {[1, 2, 3].map((key) => <div key={key} className="h-9 rounded-md bg-surface motion-safe:animate-pulse" />)}
    </div>
  );
}
