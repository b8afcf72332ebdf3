import { useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { imagesOf } from '@/lib/chat/images';
import { shownName } from '@/lib/marks';

/** The images that came with a message of the user's; each opens in a tab of its own. */
export function MessageImages({ message }: { message: Message }) {
  const t = useText('chat');
  const { workspaceId, chatId } = useChatIds();
  return (
    <div className="mt-1 mb-2 flex flex-wrap gap-2">
      {imagesOf(workspaceId, chatId, message).map(({ id, name, address }, place) => (
        <a key={`${id} ${place}`} href={address} target="_blank" rel="noopener noreferrer" className="block rounded border border-line bg-bg">
          <img src={address} alt={shownName(name) || t('image', { number: place + 1 })} className="max-h-36 min-h-4 max-w-full rounded" />
        </a>
      ))}
    </div>
  );
}
