import { Image as ImageIcon, LoaderCircle } from 'lucide-react';
import { memo } from 'react';
import { useText } from '@/i18n';
import { AttachedFiles } from '@/components/AttachedFiles';
import { filesIn } from '@/lib/attached';
import type { Outgoing } from '@/lib/chat/outbox';
import { messagesOf } from '@/lib/chat/rows';
import { shownName } from '@/lib/marks';
import { LiveMessage } from './AssistantMessage';
import { Burst } from './Burst';
import type { Item } from './items';
import { KeptReasoning } from './Reasoning';
import { useSlots } from './slots';
import { StepHeading } from './StepHeading';
import { ThreadCard } from './ThreadCard';
import { CallCard } from './ToolCallCard';

/** One row of the timeline. */
export const ItemView = memo(
  function ItemView({ item }: { item: Item }) {
    const { cards } = useSlots();
    switch (item.kind) {
      case 'message': {
        const Card = cards[item.message.message_type];
        // Answers in plain words have it below the name of who wrote them.
        return item.message.message_type === 'text' ? <Card message={item.message} /> : <><KeptReasoning message={item.message} /><Card message={item.message} /></>;
      }
      case 'call':
        return <CallCard call={item.call} result={item.result} />;
      case 'burst':
        return <Burst calls={item.calls} />;
      case 'step':
        return <StepHeading step={item.step} calls={item.calls} />;
      case 'thread':
        return <ThreadCard thread={item} />;
      case 'live':
        return <LiveMessage live={item.live} />;
      case 'outgoing':
        return <OutgoingMessage outgoing={item.outgoing} />;
    }
  },
  // Rows are made anew with every message; what they hold is not.
  (before, after) => isSame(before.item, after.item),
);

function isSame(a: Item, b: Item): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.kind === 'live' || b.kind === 'live' || a.kind === 'outgoing' || b.kind === 'outgoing') return false;
  if (a.kind === 'thread' && b.kind === 'thread' && a.live !== b.live) return false;
  const [before, after] = [messagesOf(a), messagesOf(b)];
  return before.length === after.length && before.every((message, index) => message === after[index]);
}

function OutgoingMessage({ outgoing }: { outgoing: Outgoing }) {
  const t = useText('chat');
  const { words, files } = filesIn(outgoing.content);
  return (
    <article aria-label={t('fromYou')} className="flex flex-col items-end gap-1">
      <div className="max-w-[85%] rounded-lg rounded-br-sm border border-dashed border-control px-3.5 py-2 text-base leading-[23px] break-words whitespace-pre-wrap">{words}{outgoing.images.map(({ name }, place) => <span key={place} className="mt-1 flex items-center gap-1.5 text-sm"><ImageIcon size={14} aria-hidden />{shownName(name)}</span>)}<AttachedFiles files={files} /></div>
      <div className="flex items-center gap-1.5 text-xs text-muted">
        <LoaderCircle size={12} aria-hidden className="motion-safe:animate-spin" />{outgoing.state === 'waiting' ? t('waitsForServer') : t('sending')}
      </div>
    </article>
  );
}
