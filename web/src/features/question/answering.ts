// An answer while it is being given: what was entered, what is wrong with it, which question is shown. Pure.
import type { Json } from '@/lib/api/types';
import type { Complaint } from './complaint';
import { type Draft, type DraftValue, assemble, startingDraft } from './draft';
import { type Field, fieldOf } from './field';
import type { KeptAnswer } from './keep';
import type { QuestionItem, QuestionView } from './view';

export interface Part {
  item: QuestionItem;
  field: Field;
  draft: Draft;
  /** The value of the button that was pressed. */
  picked?: Json;
  /** Whether it was tried to go on with it: from then on errors show while typing. */
  attempted: boolean;
  complaints: Complaint[];
  fromServer: Record<string, string>;
}

export interface Answering {
  parts: Part[];
  step: number;
}

export function startAnswering(view: QuestionView, kept: KeptAnswer | undefined): Answering {
  const presets = view.severity === 'critical' ? 'none' : 'kept';
  const parts = view.items.map((item): Part => {
    const field = fieldOf(item.schema, item.preset, presets);
    const picked = kept?.picked[item.name];
    return {
      item,
      field,
      draft: { ...startingDraft(field), ...kept?.drafts[item.name] },
      ...(picked !== undefined && { picked }),
      attempted: false,
      complaints: [],
      fromServer: {},
    };
  });
  return { parts, step: Math.min(kept?.step ?? 0, parts.length - 1) };
}

/** What of it outlives a reload. */
export function worthKeeping({ parts, step }: Answering): KeptAnswer {
  const picks = parts.filter((part) => part.picked !== undefined).map((part) => [part.item.name, part.picked]);
  return { step, drafts: Object.fromEntries(parts.map((part) => [part.item.name, part.draft])), picked: Object.fromEntries(picks) };
}

export function partAt(answering: Answering): Part {
  return answering.parts[answering.step] as Part;
}

export function isLast({ parts, step }: Answering): boolean {
  return step === parts.length - 1;
}

function changePart(answering: Answering, step: number, change: Partial<Part>): Answering {
  return { ...answering, parts: answering.parts.map((part, index) => (index === step ? { ...part, ...change } : part)) };
}

/** Takes in what was typed. A complaint of the server about a field is over once it is changed. */
export function entered(answering: Answering, pointer: string, value: DraftValue | undefined): Answering {
  const part = partAt(answering);
  const { [pointer]: _old, ...others } = part.draft;
  const draft = value === undefined ? others : { ...others, [pointer]: value };
  const { [pointer]: _mended, ...fromServer } = part.fromServer;
  const complaints = part.attempted ? assemble(part.field, draft).complaints : part.complaints;
  const { picked: _picked, ...rest } = part;
  return { ...answering, parts: answering.parts.with(answering.step, { ...rest, draft, fromServer, complaints }) };
}

export function picked(answering: Answering, value: Json): Answering {
  return changePart(answering, answering.step, { picked: value, fromServer: {}, complaints: [] });
}

export function movedTo(answering: Answering, step: number): Answering {
  return { ...answering, step: Math.max(0, Math.min(step, answering.parts.length - 1)) };
}

export function judged(answering: Answering, step: number, complaints: Complaint[]): Answering {
  return changePart(answering, step, { attempted: true, complaints });
}

/** The value of a part; nothing when it is not complete. */
export function valueOf(part: Part): { value: Json | undefined; complaints: Complaint[] } {
  return part.picked === undefined ? assemble(part.field, part.draft) : { value: part.picked, complaints: [] };
}

/** All answers by name; nothing when one is missing. */
export function answersOf({ parts }: Answering): Record<string, Json> | undefined {
  const given = parts.map((part) => [part.item.name, valueOf(part).value] as const);
  const whole = given.every((entry): entry is readonly [string, Json] => entry[1] !== undefined);
  return whole ? (Object.fromEntries(given) as Record<string, Json>) : undefined;
}

/** Shows what the server refused, beginning with the first question it names. */
export function refused(answering: Answering, byQuestion: Record<string, Record<string, string>>): Answering {
  const parts = answering.parts.map((part) => ({ ...part, attempted: true, fromServer: byQuestion[part.item.name] ?? {} }));
  const first = parts.findIndex((part) => Object.keys(part.fromServer).length > 0);
  return { parts, step: first < 0 ? answering.step : first };
}

/** The first question that still lacks an answer. */
export function firstOpen({ parts }: Answering): number | undefined {
  const open = parts.findIndex((part) => valueOf(part).value === undefined);
  return open < 0 ? undefined : open;
}
