import { Check, CirclePause, CircleSlash, Square, X } from 'lucide-react';
import { Fragment, useMemo } from 'react';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import type { Json, Message } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';
import { answerParts, answerText } from './answerWords';
import { readCall } from './call';
import { fieldOf } from './field';
import { shownJson } from './json';
import { type QuestionRecord, recordOf } from './record';
import { type QuestionItem, type QuestionView, labelOf, proseAround, readQuestion } from './view';

/** A question as the history keeps it, with what was answered. While it waits, the bar has it. */
export function QuestionMessageCard({ message }: { message: Message }) {
  const view = useMemo(() => readQuestion(message.metadata), [message.metadata]);
  if (view === undefined) return <Markdown text={message.content} />;
  const prose = proseAround(view, message.content);
  return (
    <div className="flex flex-col gap-3">
      {prose !== '' && <Markdown text={prose} />}
      <Card view={view} />
    </div>
  );
}

function Card({ view }: { view: QuestionView }) {
  const t = useText('question');
  const encoded = useChatView((chat) => JSON.stringify(recordOf(chat, view.id)));
  const record = JSON.parse(encoded) as QuestionRecord;
  const frame = { 'aria-label': t('title'), 'data-question': view.id, 'data-status': record.status };
  const Mark = MARKS[record.status];
  // The bar asks; here is only a mark of it. A call that waits has its own.
  if (record.status === 'pending' && view.kind === 'tool_approval') return null;
  if (record.status === 'pending') return <article {...frame} className={lineClass}><Mark size={14} aria-hidden className="shrink-0 text-major" />{t('pending')}</article>;
  if (view.kind !== 'user') return <ApprovalRow view={view} record={record} frame={frame} />;
  return (
    <article {...frame} className="flex gap-2 text-fg2">
      <Mark size={14} aria-hidden className="mt-1 shrink-0" />
      <div className="flex min-w-0 flex-col gap-1.5">
        {view.items.map((item) => <Item key={item.name} item={item} record={record} />)}
        <Comment record={record} />
        <StatusWord record={record} />
      </div>
    </article>
  );
}

const MARKS = { pending: CirclePause, answered: Check, superseded: CircleSlash, stopped: Square };
const lineClass = 'flex min-h-6.5 items-center gap-2 text-fg2';

/** That it was answered shows in the answer. */
function StatusWord({ record }: { record: QuestionRecord }) {
  const t = useText('question');
  return <span className={record.status === 'answered' ? 'sr-only' : 'text-muted'}>{t(record.status)}</span>;
}

function Comment({ record }: { record: QuestionRecord }) {
  if (record.comment === undefined) return null;
  return <p className="ml-1.5 border-l border-line2 pl-4 whitespace-pre-wrap text-muted">{record.comment}</p>;
}

function Item({ item, record }: { item: QuestionItem; record: QuestionRecord }) {
  const answer = record.answers[item.name];
  return (
    <div className="min-w-0">
      <Markdown text={item.text} />
      {answer !== undefined && <Answer item={item} answer={answer} />}
    </div>
  );
}

function Answer({ item, answer }: { item: QuestionItem; answer: Json }) {
  const t = useText('question');
  const field = useMemo(() => fieldOf(item.schema, undefined, 'none'), [item.schema]);
  const words = { yes: t('yes'), no: t('no'), none: t('emptyAnswer') };
  const label = labelOf(item, answer);
  const parts = label === undefined ? answerParts(field, answer) : undefined;
  if (parts === undefined) {
    return (
      <p data-answer className="font-medium text-fg break-words whitespace-pre-wrap">
        {label ?? answerText(field, answer, words)}
      </p>
    );
  }
  return (
    <dl data-answer className="grid grid-cols-[auto_1fr] gap-x-3">
      {parts.map((part) => (
        <Fragment key={part.name}>
          <dt className="text-muted">{part.name}</dt>
          <dd className="min-w-0 font-medium text-fg break-words whitespace-pre-wrap">{answerText(part.field, part.value, words)}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** What was approved or not, in a line; the call or the plan itself stands above it. */
function ApprovalRow({ view, record, frame }: { view: QuestionView; record: QuestionRecord; frame: Record<string, string> }) {
  const t = useText('question');
  const answer = Object.values(record.answers)[0];
  const outcomes: Record<string, string> = { true: t('accepted'), false: t('keptPlanning'), approve: t('allowed'), approve_always: t('allowedAlways'), deny: t('denied') };
  const call = view.call === undefined ? undefined : readCall(view.call);
  if (call?.after === true) Object.assign(outcomes, { approve: t('kept'), approve_always: t('keptAlways'), deny: t('tookBack') });
  const isYes = answer === true || answer === 'approve' || answer === 'approve_always';
  const Mark = answer === undefined ? MARKS[record.status] : isYes ? Check : X;
  return (
    <article {...frame}>
      <div className={lineClass}>
        <Mark size={14} aria-hidden className="shrink-0" />
        <p className="min-w-0 break-words">
          {answer === undefined ? <StatusWord record={record} /> : <span data-answer className="font-medium">{outcomes[String(answer)] ?? shownJson(answer)}</span>}
          <span className="ml-2 text-muted">{call === undefined ? t('planShort', { revision: Number(view.plan?.revision ?? 1) }) : call.after ? t('changedFiles', { count: call.effects.length }) : call.reason}</span>
        </p>
      </div>
      <Comment record={record} />
    </article>
  );
}
