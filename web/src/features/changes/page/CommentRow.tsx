import { useEffect, useRef, type KeyboardEvent } from 'react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { isKey, modifier } from '@/lib/keys';
import { linesOf, type Comments, type Draft } from './comments';

interface Props {
  draft: Draft;
  comments: Comments;
  /** Gives the focus back to the diff. */
  leave: () => void;
}

/** A comment on lines: being written, or waiting to be sent. */
export function CommentRow({ draft, comments, leave }: Props) {
  const t = useText('changesPage');
  const place = draft.step === null ? t('linesOnly', { lines: linesOf(draft) }) : t('linesInStep', { lines: linesOf(draft), step: draft.step });
  return (
    <div className="diff-comment">
      {draft.edit ? (
        <Box draft={draft} place={place} comments={comments} leave={leave} />
      ) : (
        <section aria-label={t('commentOn', { place })} className="comment-box">
          <p className="said">{draft.text}</p>
          <div className="foot">
            <span className="mr-auto">{t('notSent', { place })}</span>
            <Button look="quiet" className="min-h-6.5 px-2" onClick={() => comments.reopen(draft.id)}>{t('edit')}</Button>
            <Button look="quiet" className="min-h-6.5 px-2" onClick={() => { comments.remove([draft.id]); leave(); }}>{t('delete')}</Button>
          </div>
        </section>
      )}
    </div>
  );
}

function Box({ draft, place, comments, leave }: Props & { place: string }) {
  const t = useText('changesPage');
  const common = useText('common');
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const done = (end: (id: string) => void) => {
    end(draft.id);
    leave();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isKey(event.nativeEvent, 'Mod+Enter')) done(comments.keep);
    else if (isKey(event.nativeEvent, 'Escape')) done(comments.cancel);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="comment-box">
      <textarea ref={field} value={draft.text} aria-label={t('commentOn', { place })} placeholder={t('placeholder')} onChange={(event) => comments.write(draft.id, event.target.value)} onKeyDown={onKeyDown} />
      <div className="foot">
        <span className="mr-auto">{place}</span>
        <Button look="quiet" className="min-h-6.5" onClick={() => done(comments.cancel)}>{common('cancel')}</Button>
        <Button className="min-h-6.5" disabled={draft.text.trim() === ''} onClick={() => done(comments.keep)}>{draft.edit?.before ? t('saveComment') : t('addComment')} <span aria-hidden className="text-xs text-muted pointer-coarse:hidden">{modifier()} ↵</span></Button>
      </div>
    </div>
  );
}
