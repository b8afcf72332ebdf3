// Comments and choices of a reviewer before they are sent: kept in the browser by chat, the same in all tabs.
import { useMemo } from 'react';
import { create } from 'zustand';

export interface DraftComment {
  id: string;
  /** The step, by its words, so that the comment follows it when steps move. */
  key: string;
  /** Its number when the comment was written: for a step whose words have changed. */
  step: number;
  /** The words that it is about; empty for the step as a whole. */
  quote: string;
  text: string;
  /** Whether it is being written. */
  isOpen: boolean;
  /** The text before it was opened again. */
  before?: string;
}

interface Draft {
  comments: DraftComment[];
  whole: string;
  /** Keys of steps that the next run leaves out. */
  skipped: string[];
  /** The key of the step after which it stops. */
  stopAfter: string | null;
  /** Findings that the user does not want to see again. */
  dismissed: string[];
}

const NONE: Draft = { comments: [], whole: '', skipped: [], stopAfter: null, dismissed: [] };
const PREFIX = 'planwright.review.';

function read(chat: string): Draft {
  try {
    const raw = JSON.parse(localStorage.getItem(PREFIX + chat) ?? '{}') as Partial<Draft>;
    const list = <T>(value: T[] | undefined): T[] => (Array.isArray(value) ? value : []);
    return { comments: list(raw.comments), whole: typeof raw.whole === 'string' ? raw.whole : '', skipped: list(raw.skipped), stopAfter: typeof raw.stopAfter === 'string' ? raw.stopAfter : null, dismissed: list(raw.dismissed) };
  } catch {
    return NONE;
  }
}

const useDrafts = create<Record<string, Draft>>(() => ({}));

addEventListener('storage', ({ key }: StorageEvent) => {
  if (key?.startsWith(PREFIX)) useDrafts.setState({ [key.slice(PREFIX.length)]: read(key.slice(PREFIX.length)) });
});

const isEmpty = (draft: Draft) => draft.comments.length === 0 && draft.whole === '' && draft.skipped.length === 0 && draft.stopAfter === null && draft.dismissed.length === 0;

function put(chat: string, change: (draft: Draft) => Draft): void {
  const draft = change(useDrafts.getState()[chat] ?? read(chat));
  useDrafts.setState({ [chat]: draft });
  try {
    if (isEmpty(draft)) localStorage.removeItem(PREFIX + chat);
    else localStorage.setItem(PREFIX + chat, JSON.stringify(draft));
  } catch {
    // Storage that is full costs the comments at the next reload, nothing else.
  }
}

/** Each step by its words; the second step with the same words is another. */
export function stepKeys(steps: readonly { action: string }[]): string[] {
  const seen = new Map<string, number>();
  return steps.map(({ action }) => {
    const count = seen.get(action) ?? 0;
    seen.set(action, count + 1);
    return count === 0 ? action : `${action}#${count}`;
  });
}

/** The number of the step that a comment is about; null for one that is gone. */
export function stepOf(comment: Pick<DraftComment, 'key' | 'step'>, keys: readonly string[]): number | null {
  const place = keys.indexOf(comment.key);
  if (place >= 0) return place + 1;
  return comment.step >= 1 && comment.step <= keys.length ? comment.step : null;
}

/** The draft of a chat, and how it changes. */
export function useDraft(chat: string, plan: { steps: readonly { action: string }[] }) {
  const draft = useDrafts((all) => all[chat]);
  const shown = useMemo(() => draft ?? read(chat), [draft, chat]);
  const keys = useMemo(() => stepKeys(plan.steps), [plan.steps]);
  return useMemo(() => {
    const change = (fields: (before: Draft) => Partial<Draft>) => put(chat, (before) => ({ ...before, ...fields(before) }));
    const comments = (map: (all: DraftComment[]) => DraftComment[]) => change((before) => ({ comments: map(before.comments) }));
    const alter = (id: string, fields: (one: DraftComment) => DraftComment[]) => comments((all) => all.flatMap((one) => (one.id === id ? fields(one) : [one])));
    const written = shown.comments.filter((one) => one.text.trim() !== '');
    return {
      ...shown,
      keys,
      /** Those with words in them. */
      written,
      has: written.length > 0 || shown.whole.trim() !== '',
      ofStep: (step: number) => shown.comments.filter((one) => stepOf(one, keys) === step),
      skippedSteps: new Set(keys.flatMap((key, place) => (shown.skipped.includes(key) ? [place + 1] : []))),
      stopStep: shown.stopAfter === null || !keys.includes(shown.stopAfter) ? null : keys.indexOf(shown.stopAfter) + 1,
      open: (step: number, quote: string, text = '') =>
        comments((all) => {
          const key = keys[step - 1] ?? '';
          const same = all.find((one) => one.key === key && one.isOpen && one.quote === quote);
          return same ? all : [...all.filter((one) => !one.isOpen || one.text.trim() !== ''), { id: crypto.randomUUID(), key, step, quote, text, isOpen: text === '' }];
        }),
      /** A comment on the step as a whole that is not being written on the page. */
      put: (step: number, text: string) => comments((all) => [...all, { id: crypto.randomUUID(), key: keys[step - 1] ?? '', step, quote: '', text, isOpen: false }]),
      write: (id: string, text: string) => alter(id, (one) => [{ ...one, text }]),
      add: (id: string) => alter(id, ({ before: _, ...one }) => (one.text.trim() === '' ? [] : [{ ...one, isOpen: false }])),
      reopen: (id: string) => alter(id, (one) => [{ ...one, isOpen: true, before: one.text }]),
      cancel: (id: string) => alter(id, ({ before, ...one }) => (before === undefined ? [] : [{ ...one, text: before, isOpen: false }])),
      discard: (id: string) => alter(id, () => []),
      setWhole: (whole: string) => change(() => ({ whole })),
      setSkipped: (steps: readonly number[]) => change(() => ({ skipped: keys.filter((_, place) => steps.includes(place + 1)) })),
      setStop: (step: number | null) => change(() => ({ stopAfter: step === null ? null : (keys[step - 1] ?? null) })),
      dismiss: (finding: string) => change((before) => ({ dismissed: [...before.dismissed, finding].slice(-200) })),
      /** A step has other words now. */
      rename: (from: string, to: string) =>
        change((before) => ({ comments: before.comments.map((one) => (one.key === from ? { ...one, key: to } : one)), skipped: before.skipped.map((key) => (key === from ? to : key)), stopAfter: before.stopAfter === from ? to : before.stopAfter })),
      clearComments: () => change(() => ({ comments: [], whole: '' })),
      clear: () => put(chat, () => NONE),
    };
  }, [chat, shown, keys]);
}
export type DraftOfChat = ReturnType<typeof useDraft>;
