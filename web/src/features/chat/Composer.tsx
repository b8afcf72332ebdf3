import { ArrowUp, AtSign, Square, X } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { Button } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { part } from '@/components/part';
import { useText } from '@/i18n';
import { filesIn, IMAGE_ALONE } from '@/lib/attached';
import { clearAttachments, useAttachmentsOf } from '@/lib/attachments';
import { filesOfImages } from '@/lib/chat/images';
import { useChatActions, useChatIds, useChatView } from '@/lib/chat/context';
import { isBusy, isInProgress } from '@/lib/chat/view';
import { commandIn, mistypedIn } from '@/lib/commands';
import { useDraft } from '@/lib/drafts';
import { endQuiet, isQuiet, MAIN_FIELD } from '@/lib/focus';
import { useIsNarrow } from '@/lib/layout';
import { usePreferences } from '@/lib/preferences';
import { useRecall } from '@/lib/promptHistory';
import { toastError } from '@/lib/toast';
import { useAttaching } from '@/lib/useAttaching';
import { endEdit, useEditing } from './editing';
import { fit } from './fit';
import { useSubmit } from './submit';
import { useOwnPrompts } from './useOwnPrompts';
import { Suggestions, useSuggestions } from './useSuggestions';

const LeaveQuestionDialog = part(() => import('./LeaveQuestionDialog').then((all) => all.LeaveQuestionDialog), null);
const Refusal = part(() => import('./Refusal').then((all) => all.Refusal), null);
const AttachmentList = part(() => import('@/components/AttachmentList').then((all) => all.AttachmentList), null);

/** What is said to the agent. `role` and `chips` begin its foot, `ring` comes before its buttons. */
export function Composer({ toggleMode, role, chips, ring }: { toggleMode: () => void; role: ReactNode; chips: ReactNode; ring: ReactNode }) {
  const t = useText('chat');
  const words = useText('composer');
  const { workspaceId, chatId } = useChatIds();
  const { stop } = useChatActions();
  const isRunning = useChatView(isBusy);
  const isStoppable = useChatView(isInProgress);
  const isPlanning = useChatView((view) => view.chat.config.agent_mode === 'plan');
  const edited = useEditing((state) => state.edited[chatId]);
  const isShiftTabOn = usePreferences((state) => state.isShiftTabOn);
  const [draft, setDraft, refusal] = useDraft(chatId);
  const isNarrow = useIsNarrow();
  const [isAsking, setAsking] = useState(false);
  /** On a phone it is one line until somebody writes in it. A button must not move under a finger, so it does not shrink again. */
  const [isBegun, setBegun] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const attached = useAttachmentsOf(chatId);
  const { on, take } = useAttaching(chatId);
  const recall = useRecall(draft, setDraft, useOwnPrompts());
  const isEmpty = draft.trim() === '' && attached.length === 0;
  const isOneLine = isNarrow && !isBegun && isEmpty;
  const submit = useSubmit(draft, edited, () => setDraft(''));
  const suggesting = useSuggestions(box, setDraft);
  const pending = useChatView((view) => view.question);
  const [agreed, setAgreed] = useState<string | null>(null);
  /** A draft that names no command, which has been said; the same once more is sent. */
  const [doubted, setDoubted] = useState('');
  const mistyped = doubted !== '' && doubted === draft ? mistypedIn(draft) : null;

  useLayoutEffect(() => fit(box.current), [draft]);
  useEffect(() => {
    if (!edited) return;
    const { words: said, files } = filesIn(edited.content);
    setDraft(edited.metadata.images !== undefined && said === IMAGE_ALONE ? '' : said);
    clearAttachments(chatId);
    void filesOfImages(workspaceId, chatId, edited).then((images) => take([...images, ...files.map(({ name, text }) => new File([text], name))]), toastError);
    box.current?.focus();
  }, [edited, setDraft, workspaceId, chatId, take]);

  const send = () => {
    if (isEmpty) return;
    suggesting.close();
    const order = edited ? null : commandIn(draft);
    if (order) {
      setDraft('');
      order.command.run(order.argument);
    } else if (!edited && doubted !== draft && mistypedIn(draft) !== null) setDoubted(draft);
    else if (pending && agreed !== pending.question_id) setAsking(true);
    else submit();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // 229 is what browsers send for a key that an input method is handling.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (suggesting.onKeyDown(event) || recall(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (!isQuiet()) send();
    } else if (event.key === 'Tab' && event.shiftKey && isShiftTabOn) {
      event.preventDefault();
      toggleMode();
    } else if (event.key === 'Escape' && edited) {
      // It is used up by this; it does not count for stopping.
      event.preventDefault();
      cancelEdit();
    }
  };
  const nameFile = () => {
    flushSync(() => setDraft(`${draft}${draft === '' || draft.endsWith(' ') ? '' : ' '}@`));
    box.current?.focus();
    suggesting.look();
  };
  const cancelEdit = () => {
    endEdit(chatId);
    setDraft('');
    clearAttachments(chatId);
  };
  return (
    <form {...on} data-one-line={isOneLine || undefined} onSubmit={(event) => { event.preventDefault(); send(); }} className="group/composer @container shrink-0 overflow-hidden rounded-lg border border-mode bg-bg focus-within:ring-1 focus-within:ring-mode data-one-line:flex data-one-line:items-center data-one-line:pr-1">
      {edited && (
        <div className="flex items-center justify-between border-b py-0.5 pr-1 pl-3 text-sm text-muted">
          {t('editing')}
          <IconButton label={t('cancelEdit')} onClick={cancelEdit}><X size={14} aria-hidden /></IconButton>
        </div>
      )}
      {suggesting.trigger && <Suggestions trigger={suggesting.trigger} workspaceId={workspaceId} place={suggesting.place} offered={suggesting.offered} choose={suggesting.choose} />}
      {mistyped !== null && <p role="alert" className="border-b px-3 py-1.5 text-sm text-major">{t('noCommand', { name: mistyped })}</p>}
      {refusal && <Refusal problem={refusal} />}
      {attached.length > 0 && <AttachmentList draft={chatId} />}
      <textarea
          ref={box}
          {...{ [MAIN_FIELD]: '' }}
          rows={1}
          value={draft}
          onChange={(event) => { endQuiet(); setDraft(event.target.value); suggesting.look(); }}
          onKeyDown={onKeyDown}
          onFocus={() => setBegun(true)}
          {...suggesting.field}
          aria-label={t('message')}
          placeholder={isOneLine ? t('message') : isPlanning ? t('askPlan') : t('askBuild')}
          className="block max-h-[40dvh] min-h-10.5 w-full min-w-0 resize-none group-data-one-line/composer:flex-1 bg-transparent px-3.5 py-2.5 text-base outline-none placeholder:text-muted short:min-h-8 short:py-1"
        />
      <div className="flex min-h-10 items-end gap-1 border-t border-mode-line bg-mode-soft px-1.5 py-1 group-data-one-line/composer:contents short:min-h-0 short:py-0">
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-1 group-data-one-line/composer:contents">
          <span className="contents group-data-one-line/composer:order-first group-data-one-line/composer:flex group-data-one-line/composer:self-stretch group-data-one-line/composer:border-r group-data-one-line/composer:border-mode-line group-data-one-line/composer:bg-mode-soft">{role}</span>
          <span className="contents group-data-one-line/composer:hidden">
            {chips}
            <IconButton label={words('nameFile')} onClick={nameFile} className="size-7.5"><AtSign size={15} aria-hidden /></IconButton>
          </span>
        </div>
        {ring}
        {isStoppable && <Button onClick={() => void stop().catch(toastError)} className="px-2.5"><Square size={13} aria-hidden /><span className="@max-3xl:sr-only">{t('stop')}</span></Button>}
        <IconButton type="submit" label={isRunning ? t('queue') : t('send')} disabled={isEmpty} className="ml-1 bg-primary text-on-primary hover:bg-primary/90 hover:text-on-primary disabled:bg-fg/8 disabled:text-muted disabled:opacity-100">
          <ArrowUp size={16} aria-hidden />
        </IconButton>
      </div>
      <LeaveQuestionDialog isOpen={isAsking} close={() => setAsking(false)} confirm={() => { setAgreed(pending?.question_id ?? null); setAsking(false); submit(); }} />
    </form>
  );
}
