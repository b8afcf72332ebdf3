import { ArrowDown, CheckCircle2, CircleSlash, Clock, Square } from 'lucide-react';
import { Fragment, useMemo } from 'react';
import { Button } from '@/components/Button';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import type { Json, Message } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';
import { answerParts, answerText } from './answerWords';
import { TONES, iconOf, toneOf } from './BarFrame';
import { readCall } from './call';
import { fieldOf } from './field';
import { shownJson } from './json';
import { jumpToQuestion } from './jump';
import { type QuestionRecord, recordOf } from './record';
import { type QuestionItem, type QuestionView, labelOf, proseAround, readQuestion } from './view';

/** A question as the history keeps it, with what was answered. While it waits, it leads to the bar. */
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
  const pending = record.status === 'pending';
  const tone = TONES[pending ? toneOf(view) : 'minor'];
  const frame = { 'aria-label': t('title'), 'data-question': view.id, 'data-status': record.status };
  const Icon = iconOf(view);
  if (view.kind !== 'user') return <ApprovalRow view={view} record={record} frame={frame} />;
  return (
    <article {...frame} className={`rounded-lg border bg-bg ${pending ? tone.frame.split(' ')[0] : ''}`}>
      <header className="flex items-center gap-2 px-4 pt-2.5 text-xs">
        <Icon className={`size-4 shrink-0 ${tone.words}`} aria-hidden="true" />
        <span className={`flex-1 font-semibold tracking-wide uppercase ${tone.words}`}>{t(view.severity)}</span>
        <StatusMark record={record} />
      </header>
      <div className="flex flex-col gap-2 px-4 pt-1 pb-3">
        {view.items.map((item) => (
          <Item key={item.name} item={item} record={record} />
        ))}
        <Comment record={record} />
        {pending && <AnswerBelow />}
      </div>
    </article>
  );
}

function AnswerBelow() {
  const t = useText('question');
  return (
    <div>
      <Button onClick={jumpToQuestion} title={t('jump')}>
        {t('answerBelow')}
        <ArrowDown className="size-4" aria-hidden="true" />
      </Button>
    </div>
  );
}

function Comment({ record }: { record: QuestionRecord }) {
  if (record.comment === undefined) return null;
  return <p className="border-l-2 pl-2 text-sm whitespace-pre-wrap text-muted">{record.comment}</p>;
}

const MARKS = { pending: Clock, answered: CheckCircle2, superseded: CircleSlash, stopped: Square };

function StatusMark({ record }: { record: QuestionRecord }) {
  const t = useText('question');
  const Mark = MARKS[record.status];
  return (
    <span className="inline-flex items-center gap-1 text-muted">
      <Mark className="size-3.5" aria-hidden="true" />
      {t(record.status)}
    </span>
  );
}

function Item({ item, record }: { item: QuestionItem; record: QuestionRecord }) {
  const answer = record.answers[item.name];
  return (
    <div className="min-w-0">
      <div className={record.status === 'pending' ? 'font-medium' : ''}>
        <Markdown text={item.text} />
      </div>
      {item.context !== undefined && (
        <div className="text-sm text-muted">
          <Markdown text={item.context} />
        </div>
      )}
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
      <p data-answer className="mt-0.5 font-semibold break-words whitespace-pre-wrap">
        {label ?? answerText(field, answer, words)}
      </p>
    );
  }
  return (
    <dl data-answer className="mt-0.5 grid grid-cols-[auto_1fr] gap-x-3">
      {parts.map((part) => (
        <Fragment key={part.name}>
          <dt className="text-muted">{part.name}</dt>
          <dd className="min-w-0 font-semibold break-words whitespace-pre-wrap">{answerText(part.field, part.value, words)}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** What was approved or not, in a line; the call or the plan itself stands above it. */
function ApprovalRow({ view, record, frame }: { view: QuestionView; record: QuestionRecord; frame: Record<string, string> }) {
  const t = useText('question');
  const Icon = iconOf(view);
  const answer = Object.values(record.answers)[0];
  const outcomes: Record<string, string> = { true: t('accepted'), false: t('keptPlanning'), approve: t('allowed'), approve_always: t('allowedAlways'), deny: t('denied') };
  const call = view.call === undefined ? undefined : readCall(view.call);
  if (call?.after === true) Object.assign(outcomes, { approve: t('kept'), approve_always: t('keptAlways'), deny: t('tookBack') });
  return (
    <article {...frame} className="flex flex-col gap-1 rounded-md border bg-bg px-3 py-2 text-sm">
      <div className="flex min-w-0 items-center gap-2">
        <Icon className="size-4 shrink-0 text-muted" aria-hidden="true" />
        <p className="min-w-0 flex-1 break-words">
          {call === undefined ? t('planShort', { revision: Number(view.plan?.revision ?? 1) }) : call.after ? t('changedFiles', { count: call.effects.length }) : call.reason}
        </p>
        {answer === undefined ? <StatusMark record={record} /> : <span data-answer className="shrink-0 font-semibold">{outcomes[String(answer)] ?? shownJson(answer)}</span>}
      </div>
      <Comment record={record} />
      {record.status === 'pending' && call === undefined && <AnswerBelow />}
    </article>
  );
}
