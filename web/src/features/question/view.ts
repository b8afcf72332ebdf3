import type { Json, JsonObject, QuestionKind, Severity } from '@/lib/api/types';
import { isObject, sameJson } from './json';

type ButtonVariant = 'primary' | 'secondary' | 'danger';

export interface AnswerButton {
  label: string;
  value: Json;
  variant: ButtonVariant;
  description?: string;
}

/** One thing that is asked. Its answer is checked against the schema. */
export interface QuestionItem {
  name: string;
  /** Markdown. */
  text: string;
  context?: string;
  schema: Json;
  buttons: AnswerButton[];
  /** The answer that is chosen from the start. */
  preset?: Json;
}

/** A question of either form, as the page shows it. */
export interface QuestionView {
  id: string;
  kind: QuestionKind;
  severity: Severity;
  items: QuestionItem[];
  /** The plan that is to be approved: `plan_file`, `revision`, `sha256`, `goal`, `steps`. */
  plan?: JsonObject;
  /** The call that is to be approved: `tool`, `args`, `effects`, `reason`, `folder`, `moment`. */
  call?: JsonObject;
}

/** Reads a question of either form; nothing when there is none in it that could be answered. */
export function readQuestion(raw: unknown): QuestionView | undefined {
  if (!isObject(raw) || typeof raw.question_id !== 'string') return undefined;
  const severity = readSeverity(raw.severity);
  const given = Array.isArray(raw.questions) ? raw.questions : [raw];
  const items = given.map((item) => readItem(item, severity)).filter((item) => item !== undefined);
  if (items.length === 0) return undefined;
  return {
    id: raw.question_id,
    kind: readKind(raw.kind),
    severity,
    items,
    ...(isObject(raw.plan) && { plan: raw.plan }),
    ...(isObject(raw.call) && { call: raw.call }),
  };
}

/** A word that is not known reads as `major`, as it does on the server. */
function readSeverity(word: unknown): Severity {
  return word === 'minor' || word === 'critical' ? word : 'major';
}

function readKind(word: unknown): QuestionKind {
  return word === 'plan_approval' || word === 'tool_approval' || word === 'step_stop' ? word : 'user';
}

function readItem(raw: Json, severity: Severity): QuestionItem | undefined {
  if (!isObject(raw) || typeof raw.question !== 'string') return undefined;
  const options = readButtons(raw.options);
  const buttons = options.length > 0 ? options : readButtons(raw.buttons);
  const schema = raw.schema ?? schemaOf(options);
  const preset = severity === 'critical' ? undefined : (raw.default ?? (isObject(schema) ? schema.default : undefined));
  return {
    name: typeof raw.name === 'string' ? raw.name : 'answer',
    text: raw.question,
    ...(typeof raw.context === 'string' && raw.context !== '' && { context: raw.context }),
    schema,
    buttons,
    ...(preset !== undefined && preset !== null && { preset }),
  };
}

/** Options are an enumeration of their values; without any, the answer is free text. */
function schemaOf(options: AnswerButton[]): Json {
  return options.length > 0 ? { enum: options.map((option) => option.value) } : { type: 'string' };
}

function readButtons(raw: unknown): AnswerButton[] {
  if (!Array.isArray(raw)) return [];
  return raw.filter(isObject).map((button) => ({
    label: typeof button.label === 'string' ? button.label : JSON.stringify(button.value ?? null),
    value: button.value ?? null,
    variant: button.variant === 'primary' || button.variant === 'danger' ? button.variant : 'secondary',
    ...(typeof button.description === 'string' && button.description !== '' && { description: button.description }),
  }));
}

/** The label of the button that stands for an answer. */
export function labelOf(item: QuestionItem, answer: Json): string | undefined {
  return item.buttons.find((button) => sameJson(button.value, answer))?.label;
}

/** What the model said around its question. A message's content ends with the questions in plain words. */
export function proseAround({ items }: QuestionView, content: string): string {
  const asked = items.map((item) => (item.context === undefined ? item.text : `${item.text}\n${item.context}`)).join('\n\n');
  return content.endsWith(asked) ? content.slice(0, content.length - asked.length).trim() : '';
}
