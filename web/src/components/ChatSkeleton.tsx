import { useText } from '@/i18n';

/** The shape of a chat, until it is there. */
export function ChatSkeleton() {
  const t = useText('common');
  return (
    <main id="content" aria-busy="true" className="flex h-full flex-col">
      <div className="h-12 shrink-0 border-b-2" />
      <p className="sr-only" role="status">{t('loading')}</p>
      <div className="skeleton mx-auto flex w-full max-w-178 flex-1 flex-col gap-6 px-4 py-8">
        <div className="h-14 w-1/2 self-end rounded-lg bg-sunken" />
        {['w-11/12', 'w-4/5', 'w-3/5'].map((width) => <div key={width} className={`h-2 rounded-full bg-sunken ${width}`} />)}
        <div className="h-16 w-full rounded-lg border" />
      </div>
    </main>
  );
}
