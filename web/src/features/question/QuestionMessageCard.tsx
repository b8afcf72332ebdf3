import { ArrowDown, CheckCircle2, CircleSlash, Clock, Square } from 'lucide-react';
import { useMemo } from 'react';
import { Button } from '@/components/Button';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import type { Json, Message } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';
import { TONES, iconOf, toneOf } from './BarFrame';
import { readCall } from './call';
import { shownJson } from './json';
import { jumpToQuestion } from './jump';
import { type QuestionRecord, recordOf } from './record';
import { type QuestionItem, type QuestionView, labelOf, readQuestion } from './view';

/** A question as the history keeps it, with what was answered. While it waits, it leads to the bar. */
export function QuestionMessageCard({ message }: { message: Message }) {
  const view = useMemo(() => readQuestion(message.metadata), [message.metadata]);
  if (view === undefined) return <Markdown text={message.content} />;
  return <Card view={view} />;
}

function Card({ view }: { view: QuestionView }) {
  const t = useText('question');
  const encoded = useChatView((chat) => JSON.stringify(recordOf(chat, view.id)));
  const record = JSON.parse(encoded) as QuestionRecord;
  const tone = TONES[record.status === 'pending' ? toneOf(view) : 'minor'];
  const Icon = iconOf(view);
  const heading = { user: t(view.severity), plan_approval: t('planReady'), tool_approval: t('approvalNeeded') }[view.kind];
  return (
    <article aria-label={t('title')} data-question={view.id} data-status={record.status} className={`rounded-lg border ${record.status === 'pending' ? tone.frame : 'border-line bg-bg'}`}>
      <header className="flex items-center gap-2 px-4 pt-2.5 text-xs">
        <Icon className={`size-4 shrink-0 ${tone.words}`} aria-hidden="true" />
        <span className={`flex-1 font-semibold tracking-wide uppercase ${tone.words}`}>{heading}</span>
        <StatusMark record={record} />
      </header>
      <div className="flex flex-col gap-2 px-4 pt-1 pb-3">
        {view.kind === 'user' ? view.items.map((item) => <Item key={item.name} item={item} record={record} />) : <Approval view={view} record={record} />}
        {record.comment !== undefined && <p className="border-l-2 pl-2 text-sm whitespace-pre-wrap text-muted">{record.comment}</p>}
        {record.status === 'pending' && (
          <div>
            <Button onClick={jumpToQuestion} title={t('jump')}>
              {t('answerBelow')}
              <ArrowDown className="size-4" aria-hidden="true" />
            </Button>
          </div>
        )}
      </div>
    </article>
  );
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
  const label = labelOf(item, answer) ?? (typeof answer === 'boolean' ? (answer ? t('yes') : t('no')) : undefined);
  const structured = typeof answer === 'object' && answer !== null;
  return (
    <p data-answer className="mt-0.5 font-semibold break-words">
      {structured ? <code className="font-normal break-all whitespace-pre-wrap">{JSON.stringify(answer, null, 1)}</code> : (label ?? shownJson(answer))}
    </p>
  );
}

/** What was approved or not, in a line. */
function Approval({ view, record }: { view: QuestionView; record: QuestionRecord }) {
  const t = useText('question');
  const answer = Object.values(record.answers)[0];
  const outcomes: Record<string, string> = { true: t('accepted'), false: t('keptPlanning'), approve: t('allowed'), approve_always: t('allowedAlways'), deny: t('denied') };
  const call = view.call === undefined ? undefined : readCall(view.call);
  return (
    <div className="min-w-0">
      {call === undefined ? (
        <p className="break-words">
          {String(view.plan?.goal ?? '')} <span className="text-sm text-muted">{t('planOf', { file: String(view.plan?.plan_file ?? ''), revision: Number(view.plan?.revision ?? 1) })}</span>
        </p>
      ) : (
        <p className="break-words">
          <code>{call.tool}</code> <span className="text-sm">{call.command?.text ?? call.effects[0]?.target ?? ''}</span>
          {call.reason !== '' && <span className="block text-sm text-muted">{call.reason}</span>}
        </p>
      )}
      {answer !== undefined && (
        <p data-answer className="mt-0.5 font-semibold">
          {outcomes[String(answer)] ?? shownJson(answer)}
        </p>
      )}
    </div>
  );
}
