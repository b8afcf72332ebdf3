import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';

/** What the model thought before a message, if that was kept; folded. */
export function KeptReasoning({ message }: { message: Message }) {
  const seen = useChatView((view) => view.reasoning[message.id]);
  const { reasoning } = message.metadata;
  const text = typeof reasoning === 'string' ? reasoning : seen;
  return text ? <Reasoning text={text} /> : null;
}

export function Reasoning({ text, isLive = false }: { text: string; isLive?: boolean }) {
  const t = useText('chat');
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="mb-1 text-sm text-fg2">
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="-ml-1.5 inline-flex min-h-6.5 items-center gap-1.5 rounded-sm px-1.5 text-muted hover:bg-surface hover:text-fg pointer-coarse:min-h-11">
        <ChevronRight size={14} aria-hidden className={`transition-transform ${isOpen ? 'rotate-90' : ''}`} />
        {isLive ? t('reasoningNow') : t('reasoning')}
      </button>
      {isOpen && <p tabIndex={0} className="mt-1 ml-1 max-h-80 overflow-y-auto border-l border-line2 pl-4 break-words whitespace-pre-wrap">{text}</p>}
    </div>
  );
}
