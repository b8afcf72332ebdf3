import { Undo2 } from 'lucide-react';
import { Button } from '@/components/Button';
import { LineCounts } from '@/components/LineCounts';
import { RoleLabel } from '@/components/RoleLabel';
import { useLocale, useText } from '@/i18n';
import type { CallChanges } from '@/lib/api/types';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { askRevert } from '@/lib/chat/revert';
import { useMayChange } from '@/lib/rights';
import { clock } from '@/lib/time';
import { FileChange } from './FileChange';
import { byMessage, weigh, type Group } from './model';

/** What was changed, by the words of the user that set it off and by call; newest first. */
export function ByMessage({ changes }: { changes: CallChanges[] }) {
  const messages = useChatView((view) => view.messages);
  return (
    <ol className="flex flex-col gap-3 p-3">
      {byMessage(changes, messages).map((group) => <GroupView key={group.calls[0]?.message_id} group={group} />)}
    </ol>
  );
}

function GroupView({ group }: { group: Group }) {
  const t = useText('changes');
  const { added, removed } = weigh(group.calls.flatMap((call) => call.files));
  return (
    <li className="border-t first:border-t-0">
      <div className="flex items-center gap-2 bg-surface px-3 py-1.5">
        <p className="min-w-0 flex-1 truncate font-medium">{group.asked ? group.asked.content : t('earlier')}</p>
        <LineCounts added={added} removed={removed} />
        {group.asked && <TakeBack from={group.asked.id} label={t('takeBackAll')} />}
      </div>
      <ol>{group.calls.map((call) => <CallView key={call.message_id} call={call} />)}</ol>
    </li>
  );
}

function CallView({ call }: { call: CallChanges }) {
  const t = useText('changes');
  const locale = useLocale((state) => state.locale);
  const who = call.tool === 'revert' ? t('byRevert') : call.tool === 'approve' ? t('byApproval') : call.tool;
  return (
    <li className="border-t">
      <div className="flex min-h-9 flex-wrap items-center gap-x-2 px-3 text-sm text-muted">
        {call.agent_role && <RoleLabel role={call.agent_role} />}
        <code>{who}</code>
        <time dateTime={call.at}>{clock(locale, call.at)}</time>
        <span className="ml-auto"><TakeBack from={call.message_id} label={t('takeBackFrom')} /></span>
      </div>
      <ul className="border-t">{call.files.map((file) => <FileChange key={file.path} file={file} />)}</ul>
      {call.left_out > 0 && <p className="border-t px-3 py-1.5 text-sm text-muted">{t('leftOut', { count: call.left_out })}</p>}
    </li>
  );
}

function TakeBack({ from, label }: { from: string; label: string }) {
  const { workspaceId } = useChatIds();
  if (!useMayChange(workspaceId)) return null;
  return <Button look="quiet" className="shrink-0 px-2 text-sm" onClick={() => askRevert(from)}><Undo2 size={14} aria-hidden />{label}</Button>;
}
