// Events in, the next view out. Pure: no clock, no network, nothing changed in place.
import type { ChatEvent, EventData, EventType, Message, Snapshot, StepProgress } from '@/lib/api/types';
import { BUSY, type ChatView, type LastRun, type LiveText } from './view';

const SNAPSHOT_MESSAGES = 50;
/** A page with more characters may be shorter than requested: the server limits pages to 8 MB. */
const LONG_PAGE = 1_000_000;
/** Only the end of a running command's output is shown; the result has all of it. */
const OUTPUT_SHOWN = 16_000;

export function fromSnapshot(snapshot: Snapshot): ChatView {
  const { partial } = snapshot;
  return {
    chat: snapshot.chat,
    messages: snapshot.messages,
    hasOlder: mayGoOn(snapshot.messages, SNAPSHOT_MESSAGES),
    live: partial
      ? {
          [partial.message_id]: {
            messageId: partial.message_id,
            text: partial.text,
            characters: count(partial.text),
            reasoning: '',
            role: partial.agent_role,
          },
        }
      : {},
    reasoning: {},
    outputs: snapshot.printed,
    question: snapshot.pending_question,
    resolved: {},
    plans: {},
    suggestion: null,
    lastRun: snapshot.last_run && runEnd(snapshot.last_run),
    seq: snapshot.last_event_id,
    missing: 'nothing',
    isDeleted: false,
    queued: snapshot.queued,
  };
}

function runEnd({ outcome, error, open_steps }: EventData['run_finished']): LastRun {
  return { outcome, error: error ?? null, openSteps: open_steps ?? [] };
}

/** Prepends older messages, oldest first. */
/** Whether there may be more messages before this page. */
export const mayGoOn = (page: Message[], asked: number): boolean =>
  page.length >= asked || page.reduce((sum, message) => sum + message.content.length, 0) > LONG_PAGE;

export function withOlder(view: ChatView, older: Message[], hasOlder: boolean): ChatView {
  const known = new Set(view.messages.map((message) => message.id));
  return { ...view, hasOlder, messages: [...older.filter((message) => !known.has(message.id)), ...view.messages] };
}

export function reduce(view: ChatView, event: ChatEvent): ChatView {
  // A reconnected stream repeats the answer being written under the newest number, so deltas go by their offset.
  const isDelta = event.type === 'text_delta' || event.type === 'reasoning_delta';
  if (!isDelta && event.type !== 'reset' && event.seq <= view.seq) return view;
  const step = STEPS[event.type] as (view: ChatView, data: ChatEvent['data'], at: string) => ChatView;
  const next = step(view, event.data, event.at);
  return event.seq > next.seq ? { ...next, seq: event.seq } : next;
}

type Step<T extends EventType> = (view: ChatView, data: EventData[T], at: string) => ChatView;

const STEPS: { [T in EventType]: Step<T> } = {
  message_created: (view, { message }, at) => {
    const { [message.id]: written, ...others } = view.live;
    // A reply without text has only calls: the first of them has the reasoning.
    const thought = message.author === 'assistant' ? (written ?? Object.values(others).at(-1))?.reasoning : undefined;
    const reasoning = thought ? { ...view.reasoning, [message.id]: thought } : view.reasoning;
    // A chat writes one answer at a time: an unfinished one was interrupted by the server's end.
    const live = message.author === 'assistant' ? {} : others;
    const chat = { ...view.chat, updated_at: at };
    return { ...view, chat, live, reasoning, messages: place(view.messages, message), queued: queue(view, message) };
  },
  message_updated: (view, { message }) => {
    const over = message.message_type === 'tool_call' && message.metadata.status !== 'running';
    const callId = String(message.metadata.call_id);
    const { [callId]: printed, ...outputs } = view.outputs;
    return { ...view, messages: place(view.messages, message), outputs: over && printed !== undefined ? outputs : view.outputs };
  },
  message_deleted: (view, { message_id }) => ({
    ...view,
    messages: view.messages.filter((message) => message.id !== message_id),
    queued: view.queued.filter((id) => id !== message_id),
  }),
  text_delta: (view, { message_id, offset, text }) => {
    if (isWritten(view, message_id)) return view;
    const live = liveText(view, message_id);
    if (offset > live.characters) return { ...view, missing: 'everything' };
    const fresh = text === '' ? '' : Array.from(text).slice(live.characters - offset).join('');
    if (fresh === '' && view.live[message_id]) return view;
    const grown = { ...live, text: live.text + fresh, characters: live.characters + count(fresh) };
    return { ...view, live: { [message_id]: grown } };
  },
  reasoning_delta: (view, { message_id, offset, text }) => {
    if (isWritten(view, message_id)) return view;
    const live = liveText(view, message_id);
    const reasoning = Array.from(live.reasoning).slice(0, offset).join('') + text;
    return { ...view, live: { [message_id]: { ...live, reasoning } } };
  },
  tool_call: (view) => view,
  tool_output: (view, { call_id, text }) => {
    const printed = ((view.outputs[call_id] ?? '') + text).slice(-OUTPUT_SHOWN);
    return { ...view, outputs: { ...view.outputs, [call_id]: printed } };
  },
  tool_result: (view) => view,
  state_changed: (view, { state }) => ({
    ...view,
    chat: { ...view.chat, state },
    lastRun: state === 'thinking' ? null : view.lastRun,
  }),
  question_pending: (view, question) => ({ ...view, question }),
  question_resolved: (view, { question_id, outcome }) => ({
    ...view,
    question: view.question?.question_id === question_id ? null : view.question,
    resolved: { ...view.resolved, [question_id]: outcome },
  }),
  mode_changed: (view, { by: _by, ...config }) => needProgress({ ...view, chat: { ...view.chat, config }, suggestion: null }),
  intent_suggested: (view, { message_id }) => ({ ...view, suggestion: message_id }),
  plan_updated: (view, { plan_file, plan }) => ({
    ...view,
    plans: { ...view.plans, [plan_file]: plan },
    chat: { ...view.chat, config: { ...view.chat.config, plan_file: view.chat.config.plan_file ?? plan_file } },
  }),
  plan_step: (view, step) => {
    const { progress } = view.chat;
    if (!progress) return needProgress(view);
    const steps = progress.steps.map((one): StepProgress => (one.step_number === step.step_number ? { ...one, ...step } : one));
    const total = (status: StepProgress['status']) => steps.filter((one) => one.status === status).length;
    return { ...view, chat: { ...view.chat, progress: { ...progress, steps, done: total('done'), skipped: total('skipped') } } };
  },
  // An event has the usage of one reply; the chat has the sum. The context size is not summed.
  usage: (view, told) => {
    const { usage } = view.chat;
    const sum = {
      input_tokens: usage.input_tokens + told.input_tokens,
      output_tokens: usage.output_tokens + told.output_tokens,
      cached_tokens: usage.cached_tokens + told.cached_tokens,
      cost: usage.cost + told.cost,
    };
    return { ...view, chat: { ...view.chat, usage: { ...sum, context_tokens: told.context_tokens } } };
  },
  run_finished: (view, end) => ({ ...view, live: {}, outputs: {}, queued: [], lastRun: runEnd(end) }),
  violation: (view) => view,
  chat_updated: (view, marks) => ({ ...view, chat: { ...view.chat, ...marks } }),
  chat_created: (view) => view,
  chat_deleted: (view) => ({ ...view, isDeleted: true }),
  reset: (view) => ({ ...view, missing: 'everything' }),
};

/** A message during a run waits until a reply says that the model read it. */
function queue(view: ChatView, message: Message): string[] {
  if (message.author === 'user') return BUSY[view.chat.state] ? [...view.queued, message.id] : view.queued;
  const readUpTo = message.metadata.read_up_to;
  if (typeof readUpTo !== 'string' || view.queued.length === 0) return view.queued;
  return view.queued.filter((id) => id > readUpTo);
}

function place(messages: Message[], message: Message): Message[] {
  const index = messages.findLastIndex((one) => one.id === message.id);
  return index < 0 ? [...messages, message] : messages.with(index, message);
}

/** The steps of a newly approved plan are in the chat, not in an event. */
function needProgress(view: ChatView): ChatView {
  return view.missing === 'everything' ? view : { ...view, missing: 'progress' };
}

/** A delta after its complete message was stored is ignored. */
function isWritten(view: ChatView, id: string): boolean {
  return !view.live[id] && view.messages.findLast((message) => message.id === id) !== undefined;
}

function liveText(view: ChatView, messageId: string): LiveText {
  return view.live[messageId] ?? { messageId, text: '', characters: 0, reasoning: '', role: view.chat.config.agent_role };
}

/** Characters as the server counts them: code points, not UTF-16 units. */
function count(text: string): number {
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters;
}
