import { History, ListTree, PanelRight, Pencil } from 'lucide-react';
import { useMemo } from 'react';
import { Button } from '@/components/Button';
import { ChipSelect } from '@/components/ChipSelect';
import { Words } from '@/components/Words';
import { useLocale, useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { loadOlder } from '@/lib/chat/store';
import { shownName, shownText } from '@/lib/marks';
import { useRoleWords } from '@/lib/roles';
import { clock, longDuration, spoken } from '@/lib/time';
import { toastError } from '@/lib/toast';
import { comparePlans, isChanged } from '../diff';
import { type Revision, progressOf } from '../model';
import { useReview } from './review';
import { minutesOf, totalMinutes } from './run';
import type { Comparison } from './useComparison';
import { pathKey } from './scope';

interface Props {
  revisions: Revision[];
  show: (revision: Revision) => void;
  comparison: Comparison | null;
  toggleOutline: () => void;
  editFile: () => void;
  /** Absent where the rail is on the page. */
  openRail?: (() => void) | undefined;
}

/** Which version this is and whose, what it is for, and how much it is. */
export function PageHead({ revisions, show, comparison, toggleOutline, editFile, openRail }: Props) {
  const t = useText('planPage');
  const { shown, newest, plan, mayEdit, isOutline, isNewest, isPhone } = useReview();
  const button = '-my-1 px-2';
  return (
    <header className="plan-head">
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-muted">
        <VersionSelect label={t('version')} revisions={revisions} chosen={shown} choose={(id) => show(revisions.find(({ messageId }) => messageId === id) ?? newest)} className="-ml-2 font-semibold" />
        {comparison && <ComparisonButton comparison={comparison} />}
        <Origin />
        <Earlier />
        <span className="ml-auto flex flex-wrap gap-2">
          {!isPhone && <Button look="quiet" aria-pressed={isOutline} aria-keyshortcuts="O" className={`${button} aria-pressed:bg-sunken`} onClick={toggleOutline}><ListTree className="size-3.5" aria-hidden="true" />{t('outline')}</Button>}
          {mayEdit && <Button look="quiet" className={button} onClick={editFile}><Pencil className="size-3.5" aria-hidden="true" />{t('editFile')}</Button>}
          {openRail && !isPhone && <Button look="quiet" className={button} onClick={openRail}><PanelRight className="size-3.5" aria-hidden="true" />{t('showDetails')}</Button>}
        </span>
      </div>
      <h2 className="text-xl font-semibold break-words max-sm:text-2xl"><Words text={shownText(plan.goal)} /></h2>
      <Totals />
      {!isNewest && <p className="mt-2 flex flex-wrap items-center gap-2 text-major">{t('older', { revision: newest.revision })}<Button onClick={() => show(newest)}>{t('showNewest', { revision: newest.revision })}</Button></p>}
    </header>
  );
}

function VersionSelect({ label, revisions, chosen, choose, className = '' }: { label: string; revisions: Revision[]; chosen: Revision; choose: (messageId: string) => void; className?: string }) {
  const t = useText('planPage');
  const options = revisions.toReversed().map((one) => [one.messageId, t('versionOf', { revision: one.revision })] as const);
  return <ChipSelect label={label} value={chosen.messageId} options={options} choose={choose} className={className} />;
}

/** How much differs from another version; while the difference is shown, which one. */
function ComparisonButton({ comparison }: { comparison: Comparison }) {
  const t = useText('planPage');
  const { against, older, newer, others, isShown, toggle, choose } = comparison;
  const count = useMemo(() => {
    const change = comparePlans(older.plan, newer.plan);
    return change.steps.filter((step) => step.kind !== 'same').length + change.lists.length + Number(isChanged(change.goal));
  }, [older, newer]);
  return (
    <span className="flex items-center gap-2">
      <button type="button" aria-pressed={isShown} onClick={toggle} className="underline decoration-control underline-offset-3 hover:text-fg pointer-coarse:min-h-11">{isShown ? t('hideChanges') : t('changesSince', { count, revision: older.revision })}</button>
      {isShown && <span className="flex items-center">{t('comparedWith')}<VersionSelect label={t('comparedWith')} revisions={others} chosen={against} choose={choose} /></span>}
    </span>
  );
}

/** Who wrote it, when, and where it is. */
function Origin() {
  const t = useText('planPage');
  const locale = useLocale((state) => state.locale);
  const { shown } = useReview();
  const { title } = useRoleWords();
  const role = useChatView(({ messages }) => messages.find((message) => message.id === shown.messageId)?.agent_role ?? null);
  return (
    <>
      {shown.isEdited ? <span>{t('byYou')}</span> : role !== null && <span>{title(role)}</span>}
      <time dateTime={shown.createdAt}>{clock(locale, shown.createdAt)}</time>
      <code className="min-w-0 truncate text-[11.5px] max-sm:hidden">{shownName(shown.planFile)}</code>
    </>
  );
}

function Totals() {
  const t = useText('planPage');
  const comma = useText('plan')('comma');
  const locale = useLocale((state) => state.locale);
  const { plan, shown } = useReview();
  const files = new Set(plan.steps.flatMap((step) => step.files).map(pathKey)).size;
  const told = plan.estimated_total_time;
  const minutes = told === undefined ? totalMinutes(plan.steps, plan.steps.map((step) => step.step_number)) : (minutesOf(told) ?? 0);
  const time = minutes > 0 ? longDuration(locale, minutes * 60_000) : told === undefined ? '' : spoken(locale, told);
  const asks = plan.steps.filter((step) => step.tools_needed.includes('rm')).length;
  const { done, total } = progressOf(plan);
  const facts = [t('totals', { steps: plan.steps.length }), files > 0 ? t('totalFiles', { files }) : '', time === '' ? '' : t('totalTime', { time }), asks > 0 ? t('asksFirst', { count: asks }) : '', plan.steps === shown.plan.steps ? '' : t('doneSoFar', { done, total })];
  return <p className="mt-1 text-fg2">{facts.filter((fact) => fact !== '').join(comma)}</p>;
}

/** Versions that are further back than what is loaded. */
function Earlier() {
  const t = useText('planPage');
  const { workspaceId, chatId } = useChatIds();
  const hasOlder = useChatView((view) => view.hasOlder);
  const { shown } = useReview();
  if (!hasOlder || shown.revision === 1) return null;
  return <button type="button" onClick={() => void loadOlder(workspaceId, chatId).catch(toastError)} className="flex items-center gap-1 hover:text-fg"><History className="size-3.5" aria-hidden="true" />{t('loadEarlier')}</button>;
}
