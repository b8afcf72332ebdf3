import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import type { Json } from '@/lib/api/types';
import { useChatActions } from '@/lib/chat/context';
import { problemLine } from '@/lib/problems';
import { type Answering, answersOf, entered, firstOpen, isLast, judged, movedTo, partAt, picked, refused, startAnswering, valueOf, worthKeeping } from './answering';
import type { Complaint } from './complaint';
import { serverComplaints } from './complaint';
import type { DraftValue } from './draft';
import { forgetAnswer, keepAnswer, keptAnswer } from './keep';
import { pageChecker } from './pageChecker';
import { useHeld } from './useHeld';
import type { QuestionView } from './view';

/** After the last key, so that typing is not checked letter by letter. */
const PAUSE = 200;

/** Gives an answer: keeps it over a reload, checks it here, sends it, and shows what the server refuses. */
export function useAnswering(view: QuestionView) {
  const t = useText('question');
  const { answer } = useChatActions();
  const [answering, setAnswering] = useState(() => startAnswering(view, keptAnswer(view.id)));
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  /** Grows with every refusal, so that the first wrong field can be focused each time. */
  const [refusals, setRefusals] = useState(0);
  const latest = useRef(answering);
  latest.current = answering;
  const held = useHeld(`${view.id} ${answering.step}`);

  const change = useCallback(
    (next: Answering) => {
      latest.current = next;
      setAnswering(next);
      setProblem(null);
      keepAnswer(view.id, worthKeeping(next));
    },
    [view.id],
  );
  useLiveCheck(answering, setAnswering);

  const send = useCallback(
    /** Whether it arrived. */
    async (given: Answering, comment?: string): Promise<boolean> => {
      const answers = answersOf(given);
      if (answers === undefined) {
        change(movedTo(given, firstOpen(given) ?? 0));
        return false;
      }
      setSending(true);
      setProblem(null);
      try {
        await answer(view.id, answers, comment);
        forgetAnswer(view.id);
        return true;
      } catch (error) {
        setSending(false);
        if (!(error instanceof ApiError)) throw error;
        const fields = error.status === 400 ? error.problem.details?.fields : undefined;
        if (fields !== undefined) {
          change(refused(given, serverComplaints(fields, view.items.map((item) => item.name))));
          setRefusals((count) => count + 1);
        }
        setProblem(await problemText(t, error, fields !== undefined));
        return false;
      }
    },
    [answer, change, t, view],
  );

  const advance = useCallback(async () => {
    const given = latest.current;
    const { draft } = partAt(given);
    const isSame = (now: Answering) => now.parts[given.step]?.draft === draft;
    const show = (complaints: Complaint[]) => setAnswering((now) => (isSame(now) ? judged(now, given.step, complaints) : now));
    const own = valueOf(partAt(given)).complaints;
    if (own.length > 0) show(own);
    const complaints = await complaintsAbout(given);
    // Text typed during validation is not sent unvalidated.
    if (!isSame(latest.current)) return;
    if (complaints.length > 0) {
      show(complaints);
      setRefusals((count) => count + 1);
    } else if (isLast(given)) await send(given);
    else change(movedTo(given, given.step + 1));
  }, [change, send]);

  return useMemo(
    () => ({
      answering,
      sending,
      /** What is asked came up only just now: nothing sends or picks yet. */
      held,
      problem,
      refusals,
      advance: async () => {
        if (!held && !sending) await advance();
      },
      enter: (pointer: string, value: DraftValue | undefined) => change(entered(latest.current, pointer, value)),
      goTo: (step: number) => change(movedTo(latest.current, step)),
      /** Whether this sent the answers. */
      pick: async (value: Json, comment?: string): Promise<boolean> => {
        if (held || sending) return false;
        const given = picked(latest.current, value);
        change(given);
        if (isLast(given)) return send(given, comment);
        change(movedTo(given, given.step + 1));
        return false;
      },
    }),
    [answering, sending, held, problem, refusals, advance, change, send],
  );
}

/** What the form itself sees, then what the schema says about the rest. */
async function complaintsAbout(given: Answering): Promise<Complaint[]> {
  const part = partAt(given);
  const { value, complaints } = valueOf(part);
  if (value === undefined) return complaints;
  const known = new Set(complaints.map((complaint) => complaint.pointer));
  const found = await pageChecker().check(part.item.schema, value);
  return [...complaints, ...found.filter((complaint) => !known.has(complaint.pointer))];
}

/** Once it was tried to go on, what is typed is checked after each pause. */
function useLiveCheck(answering: Answering, setAnswering: (change: (old: Answering) => Answering) => void): void {
  const { draft, attempted, picked: choice } = partAt(answering);
  const { step } = answering;
  const isChecked = attempted && choice === undefined;
  // An effect event, because only typing starts a check; a check's own outcome must not.
  const check = useEffectEvent(() => {
    void complaintsAbout(answering).then((complaints) => setAnswering((now) => (now.parts[step]?.draft === draft ? judged(now, step, complaints) : now)));
  });
  useEffect(() => {
    if (!isChecked) return undefined;
    const clock = setTimeout(check, PAUSE);
    return () => clearTimeout(clock);
  }, [draft, isChecked, step]);
}

async function problemText(t: ReturnType<typeof useText<'question'>>, error: ApiError, hasFields: boolean): Promise<string | null> {
  if (hasFields) return null;
  if (error.status === 0) return t('offline');
  if (error.code === 'QUESTION_NOT_PENDING') return t('answeredElsewhere');
  return problemLine(error);
}
