import { useText } from '@/i18n';

/** The shape of a chat, until it is there. */
export function ChatSkeleton() {
  const t = useText('common');
  const bar = 'rounded-md bg-line motion-safe:animate-pulse';
  return (
    <main id="content" aria-busy="true" className="flex h-full flex-col">
      <div className="h-13 shrink-0 border-b-2" />
      <div className="mx-auto flex w-full max-w-3xl flex-1 flex-col gap-4 p-6">
        <p className="sr-only" role="status">{t('loading')}</p>
        <div className={`h-10 w-2/3 self-end ${bar}`} />
        <div className={`h-24 w-full ${bar}`} />
        <div className={`h-9 w-full ${bar}`} />
        <div className={`h-40 w-full ${bar}`} />
      </div>
    </main>
  );
}
