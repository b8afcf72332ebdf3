import { CircleCheck, CircleDashed, CircleSlash, MessageSquareText } from 'lucide-react';
import { Button } from '@/components/Button';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import { shownText } from '@/lib/marks';
import type { DraftComment } from '@/lib/chat/planDrafts';
import type { Note } from './notes';
import { useReview } from './review';

const ICONS = { sent: MessageSquareText, done: CircleCheck, declined: CircleSlash, unanswered: CircleDashed };
const LOOKS = { sent: 'text-fg2', done: 'text-act', declined: 'text-major', unanswered: 'text-muted' };

export function NoteIcon({ state }: { state: Note['state'] }) {
  const Icon = ICONS[state];
  return <Icon className={`mt-0.75 size-3.5 shrink-0 ${LOOKS[state]}`} aria-hidden="true" />;
}

export function useNoteWords(): Record<Note['state'], string> {
  const t = useText('planPage');
  return { sent: t('sentComment'), done: t('done'), declined: t('declined'), unanswered: t('unanswered') };
}

function Quote({ text }: { text: string }) {
  const t = useText('planPage');
  return text === '' ? null : <p className="truncate text-xs text-muted">{t('on', { quote: shownText(text) })}</p>;
}

/** A comment that was sent, and what became of it. */
export function NoteLine({ note }: { note: Note }) {
  const words = useNoteWords();
  const common = useText('common');
  return (
    <div data-note={note.state} className="mt-1.5 flex items-start gap-2">
      <NoteIcon state={note.state} />
      <div className="min-w-0 flex-1">
        <Quote text={note.quote} />
        <p className="break-words whitespace-pre-wrap">{shownText(note.text)}</p>
        <div className="flex flex-wrap gap-x-1 text-fg2">
          <span className={`font-semibold ${LOOKS[note.state]}`}>{words[note.state]}{note.answer !== '' && common('colon')}</span>
          {note.answer !== '' && <Markdown text={note.answer} />}
        </div>
      </div>
    </div>
  );
}

/** A comment that waits to be sent. */
export function DraftLine({ comment }: { comment: DraftComment }) {
  const t = useText('planPage');
  const { draft, mayComment } = useReview();
  return (
    <div data-draft className="mt-1.5 flex items-start gap-2">
      <MessageSquareText className="mt-0.75 size-3.5 shrink-0 text-fg2" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <Quote text={comment.quote} />
        <p className="break-words whitespace-pre-wrap">{shownText(comment.text)}</p>
      </div>
      {mayComment && (
        <span className="flex shrink-0">
          <Button look="quiet" className="-my-1 px-2" onClick={() => draft.reopen(comment.id)}>{t('editComment')}</Button>
          <Button look="quiet" className="-my-1 px-2" onClick={() => draft.discard(comment.id)}>{t('discardComment')}</Button>
        </span>
      )}
    </div>
  );
}
