import { AtSign, CornerDownLeft, Folder } from 'lucide-react';
import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent } from 'react';
import { flushSync } from 'react-dom';
import { Button } from '@/components/Button';
import { ChipSelect } from '@/components/ChipSelect';
import { IconButton } from '@/components/IconButton';
import type { ModelPick } from '@/components/ModelChips';
import { LOADING, part } from '@/components/part';
import { Suggestions, useSuggestions } from '@/features/chat/useSuggestions';
import { useNewChat } from './queries';
import type { Role, Workspace } from '@/lib/api/types';
import { useAttachmentsOf } from '@/lib/attachments';
import { commandIn } from '@/lib/commands';
import { NEW_CHAT, useDraft } from '@/lib/drafts';
import { focusMainIfLost, MAIN_FIELD } from '@/lib/focus';
import { usualWorkspace, useLastWorkspace, type LastWorkspace } from '@/lib/lastWorkspace';
import { useRecall } from '@/lib/promptHistory';
import { useRoles } from '@/lib/roles';
import { useAttaching } from '@/lib/useAttaching';
import { useMe } from '@/lib/workspaces';
import { NewRoleMenu } from './NewRoleMenu';
import { useText, type Text } from '@/i18n';

const AttachButton = part(() => import('@/components/AttachButton').then((all) => all.AttachButton), LOADING);
const ModelChips = part(() => import('@/components/ModelChips').then((all) => all.ModelChips), LOADING);
const AttachmentList = part(() => import('@/components/AttachmentList').then((all) => all.AttachmentList), null);

/** The first words of a new chat, in a workspace where the user may make one. `takesFocus` where there is nothing else to do. */
export function NewChatForm({ t, workspaces: all, takesFocus, isNarrow }: { t: Text<'inbox'>; workspaces: Workspace[]; takesFocus: boolean; isNarrow: boolean }) {
  const words = useText('composer');
  const newChat = useNewChat();
  const me = useMe().data;
  const workspaces = all.filter((one) => one.right !== 'viewer');
  const mayOnlyLook = all.length > 0 && workspaces.length === 0;
  const [content, setContent] = useDraft(NEW_CHAT);
  // Only what the user picked is sent.
  const [picked, setPicked] = useState<Pick<Role, 'role' | 'mode'> | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const suggesting = useSuggestions(box, setContent);
  const { trigger } = suggesting;
  const attached = useAttachmentsOf(NEW_CHAT);
  const { on } = useAttaching(NEW_CHAT);
  const recall = useRecall(content, setContent);
  const [choice, setChoice] = useState<ModelPick>({ model: null, effort: null });
  const isEmpty = content.trim() === '' && attached.length === 0;
  const last = useLastWorkspace((state) => state.last);
  // A folder that is added later takes the place of what was chosen.
  const [chosen, setChosen] = useState<{ id: string; after: LastWorkspace } | null>(null);
  useEffect(() => { if (takesFocus) focusMainIfLost(); }, [takesFocus]);
  const workspace = chosen?.after === last ? chosen.id : usualWorkspace(workspaces, last)?.id;
  const settings = workspaces.find(({ id }) => id === workspace)?.settings;
  const usualMode = settings?.default_mode === 'act' ? 'act' : 'plan';
  // The first role of a mode is the one that a chat of this mode begins in.
  const roleRows = useRoles();
  const shown = picked ?? roleRows.find((one) => one.mode === usualMode);
  const mode = shown?.mode ?? usualMode;
  // Without one, setting one up comes first.
  const hasModel = !me || Boolean(me.models.plan ?? settings?.model);
  // The second click of a double click comes before the page is drawn again.
  const isStarting = useRef(false);
  const start = () => {
    suggesting.close();
    const order = commandIn(content);
    if (order) order.command.run(order.argument);
    else if (workspace && !newChat.isPending && !isStarting.current) {
      isStarting.current = true;
      const hasChoice = choice.model !== null || choice.effort !== null;
      newChat.mutate({ workspace, content: content.trim(), attached, ...(picked && { role: picked.role }), ...(hasChoice && { choice }) }, { onSettled: () => { isStarting.current = false; } });
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || event.keyCode === 229 || suggesting.onKeyDown(event) || recall(event)) return;
    if (event.key === 'Escape') box.current?.blur();
    if (event.key !== 'Enter' || event.shiftKey || isEmpty) return;
    event.preventDefault();
    start();
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    start();
  };
  const nameFile = () => {
    flushSync(() => setContent(`${content}${content === '' || content.endsWith(' ') ? '' : ' '}@`));
    box.current?.focus();
    suggesting.look();
  };
  const roles = <NewRoleMenu label={t('modeOfNew')} role={shown?.role} mode={mode} choose={setPicked} isShort={isNarrow} />;
  return (
    <form {...on} onSubmit={onSubmit} data-mode={mode} className="group/new relative overflow-hidden rounded-lg border border-mode bg-bg focus-within:ring-1 focus-within:ring-mode max-sm:flex max-sm:flex-wrap max-sm:items-stretch max-sm:shadow-raised">
      {trigger && workspace && <Suggestions trigger={trigger} workspaceId={workspace} place={suggesting.place} offered={suggesting.offered} choose={suggesting.choose} />}
      {isNarrow && <div className="flex items-center border-r border-mode-line bg-mode-soft px-1">{roles}</div>}
      {attached.length > 0 && <AttachmentList draft={NEW_CHAT} />}
      <textarea
        ref={box}
        {...{ [MAIN_FIELD]: '' }}
        rows={isNarrow ? 1 : 2}
        value={content}
        onChange={(event) => { setContent(event.target.value); suggesting.look(); }}
        onKeyDown={onKeyDown}
        {...suggesting.field}
        aria-label={t('firstWords')}
        placeholder={isNarrow ? t('shortHint') : mode === 'plan' ? t('firstWordsHint') : t('buildHint')}
        className="block w-full resize-none bg-transparent px-3.5 py-3 text-base outline-none placeholder:text-muted max-sm:w-0 max-sm:flex-1 max-sm:focus:h-24"
      />
      <div className={`flex min-h-10 items-center gap-1 border-t border-mode-line bg-mode-soft px-1.5 py-1 flex-wrap max-sm:w-full ${isEmpty ? 'max-sm:hidden max-sm:group-focus-within/new:flex' : ''}`}>
        {!isNarrow && roles}
        {mayOnlyLook && <p className="min-w-0 px-2 text-fg2">{t('onlyLook')}</p>}
        {workspaces.length === 1 && <p className="flex min-w-0 items-center gap-1.5 px-2 text-fg2"><Folder size={14} aria-hidden className="shrink-0" /><span className="truncate">{workspaces[0]?.name}</span></p>}
        {workspaces.length > 1 && <ChipSelect label={t('workspaceOfNew')} icon={<Folder size={14} aria-hidden />} value={workspace ?? ''} options={workspaces.map(({ id, name }): [string, string] => [id, name])} choose={(id) => setChosen({ id, after: last })} className="max-w-60" />}
        {workspace && <ModelChips workspaceId={workspace} mode={mode} picked={choice} pick={(change) => setChoice({ ...choice, ...change })} />}
        {workspace && <AttachButton draft={NEW_CHAT} />}
        {workspace && <IconButton label={words('nameFile')} onClick={nameFile} className="size-7.5"><AtSign size={15} aria-hidden /></IconButton>}
        <Button type="submit" look={hasModel ? 'primary' : 'secondary'} className="ml-auto shrink-0" disabled={!workspace || newChat.isPending}>{t('start')}<CornerDownLeft size={14} aria-hidden /></Button>
      </div>
    </form>
  );
}
