import { ArrowLeft } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { Link } from 'wouter';
import { ConnectionBadge } from '@/components/ConnectionBadge';
import { OfflineBanner } from '@/components/OfflineBanner';
import { useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';

/** A page about a chat, with the way back to it. */
export function ChatSubPage({ title, children }: { title: string; children: ReactNode }) {
  const t = useText('panel');
  const { workspaceId, chatId } = useChatIds();
  const name = useChatView((view) => view.chat.title);
  const mode = useChatView((view) => view.chat.config.agent_mode);
  useEffect(() => { document.title = `${title} · ${name} · Planwright`; }, [title, name]);
  return (
    <div data-mode={mode} className="flex h-full min-w-0 flex-col">
      <header className="flex h-13 shrink-0 items-center gap-2 border-b-2 border-mode bg-mode-soft px-2 sm:px-4">
        <Link href={`/w/${workspaceId}/c/${chatId}`} aria-label={t('backToChat')} className="inline-flex size-8 shrink-0 items-center justify-center rounded-sm text-muted hover:bg-bg hover:text-fg pointer-coarse:size-11"><ArrowLeft size={16} aria-hidden /></Link>
        <h1 className="shrink-0 font-semibold">{title}</h1>
        <p className="min-w-0 truncate text-muted">{name}</p>
        <div className="ml-auto"><ConnectionBadge /></div>
      </header>
      <OfflineBanner />
      <main id="content" tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto">{children}</main>
    </div>
  );
}
