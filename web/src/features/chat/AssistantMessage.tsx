import { CircleSlash } from 'lucide-react';
import { CopyButton } from '@/components/CopyButton';
import { GrowingMarkdown, Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import type { LiveText } from '@/lib/chat/view';
import { KeptReasoning, Reasoning } from './Reasoning';
import { RoleBadge } from './RoleBadge';

export function AssistantMessage({ message }: { message: Message }) {
  const t = useText('chat');
  return (
    <article className="group" aria-label={t('fromAgent')}>
      {message.agent_role && (
        <RoleBadge role={message.agent_role} at={message.created_at}><CopyButton text={message.content} label={t('copyMessage')} /></RoleBadge>
      )}
      <KeptReasoning message={message} />
      <Markdown text={message.content} />
      {message.metadata.status === 'interrupted' && (
        <p className="mt-1 flex items-center gap-1.5 text-sm text-muted"><CircleSlash size={14} aria-hidden />{t('interrupted')}</p>
      )}
    </article>
  );
}

/** An answer that is being written. */
export function LiveMessage({ live }: { live: LiveText }) {
  const t = useText('chat');
  return (
    <article aria-label={t('fromAgent')} aria-busy="true">
      <RoleBadge role={live.role} />
      {live.reasoning && <Reasoning text={live.reasoning} isLive={live.text === ''} />}
      <GrowingMarkdown text={live.text} />
    </article>
  );
}
