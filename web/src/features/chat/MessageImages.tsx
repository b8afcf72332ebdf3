import { useQuery } from '@tanstack/react-query';
import { Loaded } from '@/components/Loaded';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import { useChatIds } from '@/lib/chat/context';

/** The images that came with a message of the user's. */
export function MessageImages({ messageId }: { messageId: string }) {
  const t = useText('chat');
  const { workspaceId, chatId } = useChatIds();
  const images = useQuery({
    queryKey: ['images', messageId],
    queryFn: () => api.images(workspaceId, chatId, messageId),
    staleTime: Infinity,
  });
  return (
    <Loaded query={images}>
      {(found) => (
        <div className="mt-2 flex flex-wrap justify-end gap-2">
          {found.map(({ mime_type, data }, place) => (
            <img key={place} src={`data:${mime_type};base64,${data}`} alt={t('image', { number: place + 1 })} className="max-h-80 max-w-full rounded border border-line" />
          ))}
        </div>
      )}
    </Loaded>
  );
}
