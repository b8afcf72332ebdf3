// The state of the page: which files are listed, folded and viewed, and what is asked about.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import type { ChangedFile } from '@/lib/api/types';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useMayChange } from '@/lib/rights';
import { shownName } from '@/lib/marks';
import type { Hunk } from '@/lib/unifiedDiff';
import { canBeViewed, useViewed } from '../useViewed';
import type { Actions } from './actions';
import { useComments } from './comments';
import { causesOf, filtered, stepsOf, treeOf, type Filter } from './model';
import type { Asked } from './TakeBackDialog';
import { useDiffs } from './useDiffs';

/** Longer diffs start folded. */
const LONG = 400;
const SPLIT = 'planwright.split';

/** By name here; the step is in the address, so that a link can name it. */
function useFilter(): [Filter, (change: Partial<Filter>) => void] {
  const [params, setParams] = useSearchParams();
  const [rest, setRest] = useState<Omit<Filter, 'step'>>({ name: '', message: null });
  const given = params.get('step');
  const filter = useMemo(() => ({ ...rest, step: given === null || !/^-?\d+$/.test(given) ? null : Number(given) }), [rest, given]);
  const change = useCallback(({ step, ...others }: Partial<Filter>) => {
    setRest((old) => ({ ...old, ...others }));
    if (step === undefined) return;
    setParams((old) => {
      const next = new URLSearchParams(old);
      if (step === null) next.delete('step');
      else next.set('step', String(step));
      return next;
    }, { replace: true });
  }, [setParams]);
  return [filter, change];
}

function useSet(): [ReadonlySet<string>, (key: string, isIn: boolean) => void] {
  const [all, setAll] = useState<ReadonlySet<string>>(new Set());
  const put = useCallback((key: string, isIn: boolean) => setAll((old) => {
    const next = new Set(old);
    if (isIn) next.add(key);
    else next.delete(key);
    return next;
  }), []);
  return [all, put];
}

export function useReview(files: ChangedFile[]) {
  const t = useText('changesPage');
  const { workspaceId, chatId } = useChatIds();
  const messages = useChatView((view) => view.messages);
  const mayChange = useMayChange(workspaceId);
  const { has, mark, isKnown } = useViewed();
  const comments = useComments(chatId);
  const diffs = useDiffs();
  const [filter, setFilter] = useFilter();
  const [closed, setClosed] = useSet();
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [asked, setAsked] = useState<Asked | null>(null);
  const [isSplit, setSplit] = useState(() => localStorage.getItem(SPLIT) === 'on');
  useEffect(() => localStorage.setItem(SPLIT, isSplit ? 'on' : 'off'), [isSplit]);

  const shown = useMemo(() => filtered(files, filter, messages), [files, filter, messages]);
  const tree = useMemo(() => treeOf(shown, closed), [shown, closed]);
  const steps = useMemo(() => stepsOf(files), [files]);
  const causes = useMemo(() => causesOf(files, messages), [files, messages]);
  const byPath = useMemo(() => new Map(files.map((file) => [file.path, file])), [files]);
  const isFolded = useCallback((file: ChangedFile) => folds.get(file.path) ?? (has(file) || file.added + file.removed > LONG), [folds, has]);

  const fold = useCallback((file: ChangedFile, is: boolean) => setFolds((old) => new Map(old).set(file.path, is)), []);
  const view = useCallback((file: ChangedFile, is: boolean) => {
    if (!canBeViewed(file)) return;
    fold(file, is);
    announce(t(is ? 'nowViewed' : 'nowUnviewed', { path: shownName(file.path) }));
    void mark(file, is);
  }, [fold, mark, t]);
  const ofDiff = useRef(diffs.of);
  ofDiff.current = diffs.of;
  const takeBack = useCallback((file: ChangedFile, hunk: Hunk | null) => {
    const loaded = ofDiff.current(file.path);
    setAsked({ file, sha256: loaded?.state === 'loaded' ? loaded.sha256 : file.after.kind === 'file' ? file.after.sha256 : null, hunk });
  }, []);
  const actions: Actions = useMemo(() => ({ mayChange, fold, view, takeBack }), [mayChange, fold, view, takeBack]);
  const viewed = useMemo(() => files.filter(has).length, [files, has]);
  return { comments, diffs, filter, setFilter, closed, setClosed, tree, steps, causes, byPath, has, isFolded, isKnown, viewed, actions, asked, close: useCallback(() => setAsked(null), []), isSplit, setSplit };
}
