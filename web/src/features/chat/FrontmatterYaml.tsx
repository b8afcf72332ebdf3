import { useQuery } from '@tanstack/react-query';
import { FileText } from 'lucide-react';
import { Button } from '@/components/Button';
import { CopyButton } from '@/components/CopyButton';
import { Failed } from '@/components/Failed';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { openFile } from '@/lib/layout';
import { asYaml } from './yaml';

/** The YAML frontmatter of the chat's file, as it is now, and the way to the file. */
export function FrontmatterYaml({ left }: { left?: () => void }) {
  const t = useText('chat');
  const { workspaceId, chatId } = useChatIds();
  const { title, config } = useChatView((view) => view.chat);
  const frontmatter = useQuery({
    queryKey: ['frontmatter', chatId, title, config.agent_role, config.plan_file],
    queryFn: () => api.frontmatter(workspaceId, chatId),
    staleTime: 0,
    placeholderData: (previous) => previous,
  });
  if (frontmatter.error) return <Failed error={frontmatter.error} retry={() => void frontmatter.refetch()} />;
  if (!frontmatter.data) return <Skeleton rows={3} className="px-0" />;
  const yaml = asYaml(frontmatter.data);
  const open = () => {
    openFile(workspaceId, `/.planwright/chats/${chatId}.chat`);
    left?.();
  };
  return (
    <div className="relative">
      <pre tabIndex={0} aria-label={t('frontmatterHint')} className="max-h-[50dvh] overflow-y-auto rounded-sm bg-surface p-2 pr-10 break-all whitespace-pre-wrap">{yaml}</pre>
      <div className="absolute top-1 right-1"><CopyButton text={yaml} /></div>
      <Button look="quiet" className="mt-2 -ml-2" onClick={open}><FileText size={14} aria-hidden />{t('openChatFile')}</Button>
    </div>
  );
}
