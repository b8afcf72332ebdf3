// The title of a chat as it is shown.
import { useText } from '@/i18n';

/** What the server calls a chat in which nothing was said yet. */
const UNTITLED = 'New chat';

export function useTitleOf(): (chat: { title: string }) => string {
  const t = useText('home');
  return ({ title }) => (title === UNTITLED ? t('newChat') : title);
}
