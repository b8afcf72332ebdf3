// A chat and a plan as Markdown, to be copied or kept.
import type { Text } from '@/i18n';
import type { Json, JsonObject, Message, RoleName } from '@/lib/api/types';
import { rowsOf, type Call, type Row } from '@/lib/chat/rows';
import { errorOf, exitOf, summaryOf, toolOf } from './toolCall';

export interface TranscriptWords {
  chat: Text<'chat'>;
  plan: Text<'plan'>;
  /** What a role is called. */
  role: (role: RoleName) => string;
  /** A moment as the reader writes it. */
  moment: (at: string) => string;
}

const isRecord = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
/** A text on one line, as an entry of a list needs it. */
const inLine = (value: string) => value.replace(/\s*\n\s*/g, ' ').trim();
/** Code whose own backticks don't end it. */
function code(value: string): string {
  const longest = Math.max(0, ...(value.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = longest > 0 ? ' ' : '';
  return `${fence}${pad}${inLine(value)}${pad}${fence}`;
}

/** The newest plan in the messages, as it was written; of one file if one is named. */
export function planIn(messages: Message[], file: string | null): { plan: JsonObject; revision: number } | null {
  const isOfFile = ({ metadata }: Message) => file === null || metadata.plan_file === file;
  const message = messages.findLast((one) => one.message_type === 'plan' && isRecord(one.metadata.plan) && isOfFile(one));
  return message ? { plan: message.metadata.plan as JsonObject, revision: Number(message.metadata.revision ?? 1) } : null;
}

const BOXES: Record<string, string> = { done: '[x]', skipped: '[-]' };

export function planMarkdown(plan: JsonObject, t: Text<'plan'>, level = 1): string {
  const heading = (depth: number, words: string) => `${'#'.repeat(level + depth)} ${inLine(words)}`;
  const steps = (Array.isArray(plan.steps) ? plan.steps : []).filter(isRecord);
  const list = (title: string, entries: string[]) => (entries.length === 0 ? [] : [heading(1, title), entries.map((entry) => `- ${inLine(entry)}`).join('\n')]);
  return [
    heading(0, text(plan.goal)),
    heading(1, t('steps')),
    steps.map((step, index) => stepMarkdown(step, index, t)).join('\n'),
    ...list(t('risks'), texts(plan.risks)),
    ...list(t('prerequisites'), texts(plan.prerequisites)),
    ...list(t('assumptions'), texts(plan.assumptions)),
    ...list(t('validation'), texts(plan.validation)),
  ].join('\n\n');
}

function stepMarkdown(step: JsonObject, index: number, t: Text<'plan'>): string {
  const number = typeof step.step_number === 'number' ? step.step_number : index + 1;
  const facts = [
    ...(text(step.reason) ? [`${t('reason')}: ${inLine(text(step.reason))}`] : []),
    ...(texts(step.files).length > 0 ? [`${t('files')}: ${texts(step.files).map(code).join(', ')}`] : []),
    ...(text(step.verify) ? [`${t('verify')}: ${code(text(step.verify))}`] : []),
    ...(text(step.estimated_time) ? [`${t('time')}: ${inLine(text(step.estimated_time))}`] : []),
  ];
  return [`${number}. ${BOXES[text(step.status)] ?? '[ ]'} ${inLine(text(step.action))}`, ...facts.map((fact) => `   - ${fact}`)].join('\n');
}

export function chatMarkdown(title: string, messages: Message[], words: TranscriptWords): string {
  return [`# ${inLine(title)}`, ...rowsOf(messages).map((row) => rowMarkdown(row, words))].filter((part) => part !== '').join('\n\n').concat('\n');
}

function rowMarkdown(row: Row, words: TranscriptWords): string {
  switch (row.kind) {
    case 'message':
      return messageMarkdown(row.message, words);
    case 'call':
      return callMarkdown(row, words);
    case 'burst':
    case 'step':
      return row.calls.map((call) => callMarkdown(call, words)).join('\n');
    case 'thread':
      return [`> ${inLine(row.task)}`, ...row.rows.map((inner) => rowMarkdown(inner, words)), row.result ? row.result.content : ''].filter((part) => part !== '').join('\n\n');
  }
}

function callMarkdown({ call, result }: Call, { chat }: TranscriptWords): string {
  const [error, exit] = [errorOf(result), exitOf(result)];
  const outcome = error ? inLine(error.message) : exit !== null && exit !== 0 ? chat('exitCode', { code: exit }) : '';
  return `- ${code(toolOf(call))} ${summaryOf(call) === '' ? '' : code(summaryOf(call))}${outcome && ` (${outcome})`}`.trimEnd();
}

function messageMarkdown(message: Message, words: TranscriptWords): string {
  const { author, agent_role, message_type, content, metadata, created_at } = message;
  if (message_type === 'tool_result') return '';
  if (author === 'system') return `*${inLine(content)}*`;
  const who = author === 'user' ? words.chat('fromYou') : agent_role ? words.role(agent_role as RoleName) : words.chat('fromAgent');
  const parts = [`## ${text(metadata.user) || who}, ${words.moment(created_at)}`, content];
  if (message_type === 'plan' && isRecord(metadata.plan)) parts.push(words.plan('version', { revision: Number(metadata.revision ?? 1) }), planMarkdown(metadata.plan, words.plan, 3));
  const answer = isRecord(metadata.question_answer) ? metadata.question_answer.answers : undefined;
  if (isRecord(answer)) parts.push(answersMarkdown(answer));
  return parts.filter((part) => part !== '').join('\n\n');
}

const answersMarkdown = (answers: JsonObject) => Object.entries(answers).map(([name, value]) => `- ${name}: ${shown(value)}`).join('\n');
const shown = (value: Json): string => (typeof value === 'string' ? inLine(value) : JSON.stringify(value));

/** Whether a message was sent only in part. */
export const isCut = (message: Message): boolean => message.metadata.body_size !== undefined && message.message_type !== 'tool_result';

/** A title as the name of a file. */
export function fileName(title: string): string {
  const plain = title.normalize('NFC').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').toLowerCase();
  return `${plain.slice(0, 60) || 'chat'}.md`;
}
