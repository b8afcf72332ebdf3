import { SendHorizontal } from 'lucide-react';
import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent } from 'react';
import { Button } from '@/components/Button';
import { Suggestions, useSuggestions } from '@/features/chat/useSuggestions';
import { useText } from '@/i18n';
import type { Workspace } from '@/lib/api/types';
import { commandIn } from '@/lib/commands';
import { focusMainIfLost, MAIN_FIELD } from '@/lib/focus';
import { usualWorkspace, useLastWorkspace, type LastWorkspace } from '@/lib/lastWorkspace';
import { useMe } from '@/lib/workspaces';
import { useNewChat } from './queries';

/** The first words of a new chat, in a workspace where the user may make one. */
export function NewChatForm({ workspaces: all }: { workspaces: Workspace[] }) {
  const t = useText('home');
  const newChat = useNewChat();
  const me = useMe().data;
  const workspaces = all.filter((one) => one.right !== 'viewer');
  const mayOnlyLook = all.length > 0 && workspaces.length === 0;
  const [content, setContent] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  const suggesting = useSuggestions(box, setContent);
  const { trigger } = suggesting;
  const last = useLastWorkspace((state) => state.last);
  // A folder that is added later takes the place of what was chosen.
  const [chosen, setChosen] = useState<{ id: string; after: LastWorkspace } | null>(null);
  useEffect(focusMainIfLost, []);
  const workspace = chosen?.after === last ? chosen.id : usualWorkspace(workspaces, last)?.id;
  // Without one, setting one up comes first.
  const hasModel = !me || Boolean(me.models.plan ?? workspaces.find(({ id }) => id === workspace)?.settings.model);
  const start = () => {
    suggesting.close();
    const order = commandIn(content);
    if (order) order.command.run(order.argument);
    else if (workspace && !newChat.isPending) newChat.mutate({ workspace, content: content.trim() });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.keyCode === 229 || suggesting.onKeyDown(event)) return;
    if (event.key !== 'Enter' || event.shiftKey || content.trim() === '') return;
    event.preventDefault();
    start();
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    start();
  };
  return (
    <form onSubmit={onSubmit} data-mode="plan" className="rounded-lg border-2 border-control bg-bg focus-within:border-mode">
      {trigger && workspace && <Suggestions trigger={trigger} workspaceId={workspace} place={suggesting.place} offered={suggesting.offered} choose={suggesting.choose} />}
      <textarea
        ref={box}
        {...{ [MAIN_FIELD]: '' }}
        rows={3}
        value={content}
        onChange={(event) => { setContent(event.target.value); suggesting.look(); }}
        onKeyDown={onKeyDown}
        {...suggesting.field}
        aria-label={t('firstWords')}
        placeholder={t('firstWordsHint')}
        className="block w-full resize-none bg-transparent px-4 pt-3 outline-none placeholder:text-muted"
      />
      <div className="flex items-center justify-end gap-2 p-2">
        {mayOnlyLook && <p className="mr-auto min-w-0 px-2 text-sm text-muted">{t('onlyLook')}</p>}
        {workspaces.length > 1 && (
          <select value={workspace} onChange={(event) => setChosen({ id: event.target.value, after: last })} aria-label={t('workspace')} className="mr-auto min-h-8 max-w-72 min-w-0 truncate rounded-sm border border-control bg-bg px-2 pointer-coarse:min-h-11">
            {workspaces.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
          </select>
        )}
        <Button type="submit" look={hasModel ? 'primary' : 'secondary'} className="shrink-0" disabled={!workspace || newChat.isPending}><SendHorizontal size={15} aria-hidden />{t('start')}</Button>
      </div>
    </form>
  );
}
