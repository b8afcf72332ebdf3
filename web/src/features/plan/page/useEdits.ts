// Edits of the plan, each of which is a version of its own by the user.
import { useRef, useState } from 'react';
import { useText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { reviewApi } from '@/lib/api/review';
import { announce } from '@/lib/announce';
import { useChatIds } from '@/lib/chat/context';
import { problemLine } from '@/lib/problems';
import { toast, toastError } from '@/lib/toast';
import type { PlanStep, Revision } from '../model';
import { type DraftOfChat, stepKeys } from '@/lib/chat/planDrafts';
import { focusStep } from './focusStep';

/** The step that is being written: an old one, or a new one after `after`. */
type Editing = { step: number } | { after: number };
/** Others may move the step meanwhile, so its key says which one it is. */
type Begun = { step: number; key: string } | { after: number };

export function useEdits(newest: Revision, draft: DraftOfChat, setCurrent: (step: number) => void) {
  const t = useText('planPage');
  const { workspaceId, chatId } = useChatIds();
  const [editing, setEditing] = useState<Begun | null>(null);
  const [isSaving, setSaving] = useState(false);
  const base = useRef(newest);
  base.current = newest;

  /** What had the focus may be gone, or elsewhere. */
  const reach = (step: number) => {
    setCurrent(step);
    requestAnimationFrame(() => focusStep(step));
  };
  const put = async (steps: PlanStep[]) => {
    setSaving(true);
    try {
      const numbered = steps.map((step, place) => ({ ...step, step_number: place + 1 }));
      await reviewApi.editPlan(workspaceId, chatId, { ...base.current.plan, steps: numbered }, base.current.sha256);
    } finally {
      setSaving(false);
    }
  };
  const tellConflict = () => { toast(t('conflict'), { isError: true, detail: t('conflictHint') }); };
  const refused = (error: unknown) => {
    if (error instanceof ApiError && error.status === 409) tellConflict();
    else toastError(error);
  };
  const steps = newest.plan.steps;
  const move = async (step: number, to: number) => {
    const moved = steps[step - 1];
    if (isSaving || !moved || to < 1 || to > steps.length || to === step) return;
    await put(steps.toSpliced(step - 1, 1).toSpliced(to - 1, 0, moved)).then(() => {
      reach(to);
      announce(t('moved', { step: to }));
    }, refused);
  };
  /** Where the step is now whose form is open; -1 if somebody rewrote or deleted it. */
  const placeOf = (begun: { key: string }) => stepKeys(steps).indexOf(begun.key);
  const edit = (what: Editing | null) => setEditing(what !== null && 'step' in what ? { ...what, key: stepKeys(steps)[what.step - 1] ?? '' } : what);
  const remove = async (step: number) => {
    if (isSaving || steps.length < 2) return;
    // Undone only from the version that the deletion makes: later edits are not overwritten.
    const undo = () => (base.current.revision === newest.revision + 1 ? void put(steps).catch(refused) : tellConflict());
    await put(steps.toSpliced(step - 1, 1)).then(() => {
      setEditing(null);
      reach(Math.min(step, steps.length - 1));
      toast(t('deletedNow', { step }), { action: { label: t('undo'), run: undo } });
    }, refused);
  };
  /** Deletes the step whose form is open. */
  const removeEdited = async () => {
    const place = editing !== null && 'key' in editing ? placeOf(editing) : -1;
    if (place < 0) tellConflict();
    else await remove(place + 1);
  };
  /** Gives what went wrong, for the form; null when it is saved. */
  const save = async (edited: PlanStep): Promise<string | null> => {
    if (editing === null) return null;
    const isNew = 'after' in editing;
    const at = isNew ? editing.after : placeOf(editing);
    if (at < 0) return t('conflict');
    const next = steps.toSpliced(at, isNew ? 0 : 1, edited);
    const renamed = isNew ? null : ([stepKeys(steps)[at], stepKeys(next)[at]] as const);
    try {
      await put(next);
    } catch (error) {
      return error instanceof ApiError && error.status === 409 ? t('conflict') : problemLine(error);
    }
    if (renamed?.[0] !== undefined && renamed[1] !== undefined && renamed[0] !== renamed[1]) draft.rename(renamed[0], renamed[1]);
    setEditing(null);
    reach(at + 1);
    return null;
  };
  return { editing, isSaving, edit, move, remove, removeEdited, save };
}
