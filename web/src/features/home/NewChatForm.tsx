import { CornerDownLeft, Folder } from 'lucide-react';
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
    <form onSubmit={onSubmit} data-mode="plan" className="overflow-hidden rounded-lg border border-mode bg-bg focus-within:ring-1 focus-within:ring-mode">
      {trigger && workspace && <Suggestions trigger={trigger} workspaceId={workspace} place={suggesting.place} offered={suggesting.offered} choose={suggesting.choose} />}
      <textarea
        ref={box}
        {...{ [MAIN_FIELD]: '' }}
        rows={2}
        value={content}
        onChange={(event) => { setContent(event.target.value); suggesting.look(); }}
        onKeyDown={onKeyDown}
        {...suggesting.field}
        aria-label={t('firstWords')}
        placeholder={t('firstWordsHint')}
        className="block w-full resize-none bg-transparent px-3.5 py-2.5 text-base outline-none placeholder:text-muted"
      />
      <div className="flex min-h-10 items-center justify-end gap-2 border-t border-mode-line bg-mode-soft px-1.5 py-1">
        {mayOnlyLook && <p className="mr-auto min-w-0 px-2 text-fg2">{t('onlyLook')}</p>}
        {workspaces.length === 1 && <p className="mr-auto flex min-w-0 items-center gap-1.5 px-2 text-fg2"><Folder size={14} aria-hidden className="shrink-0" /><span className="truncate">{workspaces[0]?.name}</span></p>}
        {workspaces.length > 1 && (
          <select value={workspace} onChange={(event) => setChosen({ id: event.target.value, after: last })} aria-label={t('workspace')} className="mr-auto min-h-8 max-w-72 min-w-0 truncate rounded-sm bg-transparent px-2 hover:bg-fg/8 pointer-coarse:min-h-11">
            {workspaces.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
          </select>
        )}
        <Button type="submit" look={hasModel ? 'primary' : 'secondary'} className="shrink-0" disabled={!workspace || newChat.isPending}>{t('start')}<CornerDownLeft size={14} aria-hidden /></Button>
      </div>
    </form>
  );
}
