import { useAnnouncements } from '@/lib/announce';

export function LiveRegion() {
  const { polite, assertive } = useAnnouncements();
  return (
    <div className="sr-only">
      <div role="status" aria-live="polite">{polite}</div>
      <div role="alert" aria-live="assertive">{assertive}</div>
    </div>
  );
}
