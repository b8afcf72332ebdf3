import type { Message } from '@/lib/api/types';
import { AssistantMessage } from './AssistantMessage';
import { Marker } from './Marker';
import { ReviewCard } from './ReviewCard';
import { UserMessage } from './UserMessage';

/** Plain words, by who said them. */
export function TextMessage({ message }: { message: Message }) {
  switch (message.author) {
    case 'user':
      return <UserMessage message={message} />;
    case 'system':
      return <Marker message={message} />;
    case 'assistant':
    case 'tool':
      return message.metadata.review ? <ReviewCard message={message} /> : <AssistantMessage message={message} />;
  }
}
