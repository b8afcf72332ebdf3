import { Menu } from '@base-ui/react/menu';
import { ClipboardCopy, Download } from 'lucide-react';
import { itemClass } from '@/components/Popup';
import { useLocale, useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useRoleWords } from '@/lib/roles';
import { moment } from '@/lib/time';
import { toast, toastError } from '@/lib/toast';
import { copyMarkdown, downloadMarkdown, type Subject } from './saving';

/** Copy and download, of the chat and of its plan. */
export function SaveItems() {
  const chat = useText('chat');
  const plan = useText('plan');
  const { title } = useRoleWords();
  const locale = useLocale((state) => state.locale);
  const { workspaceId, chatId } = useChatIds();
  const hasPlan = useChatView((view) => view.chat.config.plan_file !== null);
  const source = { workspace: workspaceId, chat: chatId };
  const words = { chat, plan, role: title, moment: (at: string) => moment(locale, at) };
  const copy = (subject: Subject) => void copyMarkdown(subject, source, words).then(() => toast(chat('copiedMarkdown')), toastError);
  const download = (subject: Subject) => void downloadMarkdown(subject, source, words).catch(toastError);
  return (
    <Menu.Group>
      <Menu.Separator className="my-1 h-px bg-line" />
      <Menu.Item className={itemClass} onClick={() => copy('chat')}><ClipboardCopy size={14} aria-hidden />{chat('copyChat')}</Menu.Item>
      <Menu.Item className={itemClass} onClick={() => download('chat')}><Download size={14} aria-hidden />{chat('downloadChat')}</Menu.Item>
      {hasPlan && <Menu.Item className={itemClass} onClick={() => copy('plan')}><ClipboardCopy size={14} aria-hidden />{chat('copyPlan')}</Menu.Item>}
      {hasPlan && <Menu.Item className={itemClass} onClick={() => download('plan')}><Download size={14} aria-hidden />{chat('downloadPlan')}</Menu.Item>}
    </Menu.Group>
  );
}
