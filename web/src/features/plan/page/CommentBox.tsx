import { type KeyboardEvent, useId } from 'react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { modifier } from '@/lib/keys';
import { shownText } from '@/lib/marks';
import type { DraftComment } from '@/lib/chat/planDrafts';
import { useReview } from './review';
import { focusStep } from './focusStep';

/** A comment being written, below what it is about. What is typed outlives a reload. */
export function CommentBox({ comment, step }: { comment: DraftComment; step: number }) {
  const t = useText('planPage');
  const common = useText('common');
  const hint = useId();
  const { draft } = useReview();
  const others = draft.written.filter((one) => one.id !== comment.id).length;
  const close = (run: (id: string) => void) => {
    run(comment.id);
    focusStep(step);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') close(draft.cancel);
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) close(draft.add);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="mt-2 rounded-md border border-control bg-bg p-2 has-focus-visible:outline-2">
      {comment.quote !== '' && <p className="truncate px-1 text-xs text-muted">{t('on', { quote: shownText(comment.quote) })}</p>}
      <textarea
        autoFocus
        rows={2}
        value={comment.text}
        aria-label={t('yourComment', { step })}
        aria-describedby={hint}
        placeholder={t('commentHint')}
        onChange={(event) => draft.write(comment.id, event.target.value)}
        onKeyDown={onKeyDown}
        className="field-sizing-content block max-h-60 min-h-12 w-full resize-none bg-transparent px-1 outline-none placeholder:text-muted"
      />
      <div className="flex flex-wrap items-center gap-2">
        <p id={hint} className="min-w-0 flex-1 px-1 text-xs text-muted">{others === 0 ? t('goesAlone') : t('goesAlong', { count: others })}</p>
        <Button look="quiet" onClick={() => close(draft.cancel)}>{common('cancel')}</Button>
        <Button disabled={comment.text.trim() === ''} onClick={() => close(draft.add)}>{t('addComment')}<kbd aria-hidden className="font-sans text-xs text-muted pointer-coarse:hidden">{modifier()} ↵</kbd></Button>
      </div>
    </div>
  );
}
