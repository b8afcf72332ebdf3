// Announcements for screen readers: the mode, and a finished answer. Never each word.
import { useEffect, useRef } from 'react';
import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import { useChatView } from '@/lib/chat/context';
import { isBusy } from '@/lib/chat/view';
import { useRoleWords } from '@/lib/roles';

export function useChatAnnouncements(): void {
  const chat = useText('chat');
  const words = useText('mode');
  const switching = useText('switching');
  const { title } = useRoleWords();
  const role = useChatView((view) => view.chat.config.agent_role);
  const mode = useChatView((view) => view.chat.config.agent_mode);
  const isWorking = useChatView(isBusy);
  useOnChange(role, () => announce(switching('nowIn', { mode: mode === 'plan' ? words('plan') : words('build'), role: title(role) })));
  const isFailed = useChatView((view) => view.chat.state === 'failed');
  // The error box announces errors itself.
  useOnChange(isWorking, () => announce(isWorking ? chat('thinking', { role: title(role) }) : isFailed ? '' : chat('answered')));
}

/** Not for the first value. */
function useOnChange(value: unknown, run: () => void): void {
  const last = useRef(value);
  useEffect(() => {
    if (last.current === value) return;
    last.current = value;
    run();
  });
}
