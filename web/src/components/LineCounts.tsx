import { useText } from '@/i18n';

/** How many lines were added and removed; none of either is not shown. */
export function LineCounts({ added, removed }: { added: number; removed: number }) {
  const t = useText('panel');
  if (added === 0 && removed === 0) return null;
  return (
    <span className="inline-flex shrink-0 gap-1.5 text-xs">
      <span className="sr-only">{t('lines', { added, removed })}</span>
      {added > 0 && <span aria-hidden className="text-act">+{added}</span>}
      {removed > 0 && <span aria-hidden className="text-critical">−{removed}</span>}
    </span>
  );
}
