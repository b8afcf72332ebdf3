import { useEffect, type ReactNode } from 'react';
import { OfflineBanner } from '@/components/OfflineBanner';
import { ChatHeader } from '@/features/chat/ChatHeader';
import { ModeToggle } from '@/features/mode/ModeToggle';
import { useChatView } from '@/lib/chat/context';
import { useTitleOf } from '@/lib/title';

/** A page of a chat that is not the chat itself. */
export function ChatSubPage({ title, children }: { title: string; children: ReactNode }) {
  const name = useTitleOf()(useChatView((view) => view.chat));
  const mode = useChatView((view) => view.chat.config.agent_mode);
  useEffect(() => { document.title = `${title} · ${name} · Planwright`; }, [title, name]);
  return (
    <div data-mode={mode} className="flex h-full min-w-0 flex-col">
      <ChatHeader controls={<ModeToggle />} />
      <OfflineBanner />
      <main id="content" tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto">{children}</main>
    </div>
  );
}
