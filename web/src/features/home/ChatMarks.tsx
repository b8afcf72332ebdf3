import { CircleDot, LoaderCircle } from 'lucide-react';
import { ModeIcon } from '@/components/RoleIcon';
import { useText } from '@/i18n';
import type { Chat } from '@/lib/api/types';
import { BUSY } from '@/lib/chat/view';
import { isUnread, useSeen } from './seen';

/** What a chat wants from you: an answer, patience, a look. */
export function ChatMarks({ chat, isShort = false, isOpen = false }: { chat: Chat; isShort?: boolean; isOpen?: boolean }) {
  const t = useText('home');
  const seen = useSeen((state) => state.seen);
  if (chat.pending_question) {
    return (
      <span className="inline-flex shrink-0 items-center gap-1.5 text-xs text-major">
        <CircleDot size={13} aria-hidden />
        <span className={isShort ? 'sr-only' : 'max-sm:sr-only'}>{t('waits')}</span>
      </span>
    );
  }
  if (BUSY[chat.state]) return <LoaderCircle size={14} aria-label={t('running')} className="shrink-0 text-mode motion-safe:animate-spin" />;
  if (!isOpen && isUnread(seen, chat)) return <span role="img" aria-label={t('unread')} className="size-1.5 shrink-0 rounded-full bg-fg" />;
  return null;
}

/** The mode as icon and colour; where many chats are listed, as a dot. */
export function ModeMark({ chat, isShort = false }: { chat: Chat; isShort?: boolean }) {
  const t = useText('mode');
  const common = useText('common');
  return (
    <span data-mode={chat.config.agent_mode} className="shrink-0 text-mode">
      {isShort ? <span className="block size-1.5 rounded-full bg-mode" /> : <ModeIcon mode={chat.config.agent_mode} />}
      <span className="sr-only">{chat.config.agent_mode === 'plan' ? t('plan') : t('build')}{common('colon')}</span>
    </span>
  );
}
