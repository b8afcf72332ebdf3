import { CirclePause, MessageSquarePlus, Pencil, SkipForward, type LucideIcon } from 'lucide-react';
import { lazy, type ReactNode } from 'react';
import { DropDown } from '@/components/DropDown';
import { useText } from '@/i18n';
import { useReview } from './review';
import { selectionIn } from './selection';
import { useStepActions } from './useStepActions';
import { MoreButton } from './MoreButton';

const load = () => import('./StepMenu');
const StepMenu = lazy(() => load().then((all) => ({ default: all.StepMenu })));

/** What can be done with the step that is read. */
export function StepBar({ step }: { step: number }) {
  const t = useText('planPage');
  const { draft, mayComment, mayEdit, mayChoose, isPhone, edits, plan } = useReview();
  const { toggleSkip, toggleStop } = useStepActions();
  const isOver = ['done', 'skipped'].includes(plan.steps[step - 1]?.status ?? '');
  const isSkipped = draft.skippedSteps.has(step);
  const isStop = draft.stopStep === step;
  if (!mayComment && !mayEdit && (!mayChoose || isOver)) return null;
  return (
    <div role="toolbar" aria-label={t('stepBar', { step })} className={isPhone ? 'plan-tools flex flex-wrap gap-2 px-4 pb-3' : 'plan-tools flex rounded-md border border-line2 bg-raised p-0.5 shadow-raised'}>
      {mayComment && <Tool Icon={MessageSquarePlus} onPress={() => draft.open(step, selectionIn(step))}>{t('comment')}</Tool>}
      {mayChoose && !isOver && <Tool Icon={SkipForward} isOn={isSkipped} onPress={() => toggleSkip(step)}>{isSkipped ? t('unskip') : t('skip')}</Tool>}
      {mayChoose && !isOver && !isSkipped && <Tool Icon={CirclePause} isOn={isStop} onPress={() => toggleStop(step)}>{isStop ? t('noStop') : isPhone ? t('stopAfterShort') : t('stopAfter')}</Tool>}
      {mayEdit && <Tool Icon={Pencil} onPress={() => edits.edit({ step })}>{t('edit')}</Tool>}
      {mayEdit && <DropDown load={load} button={<MoreButton label={t('more', { step })} />} menu={(button) => <StepMenu button={button} step={step} />} />}
    </div>
  );
}

/** Pressing it keeps the selection, which a comment is about. */
function Tool({ Icon, onPress, isOn, children }: { Icon: LucideIcon; onPress: () => void; isOn?: boolean; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onPointerDown={(event) => event.pointerType === 'mouse' && event.preventDefault()}
      onClick={onPress}
      className="inline-flex min-h-6.5 items-center justify-center gap-1.5 rounded-sm px-2 whitespace-nowrap text-fg2 hover:bg-sunken hover:text-fg aria-pressed:bg-sunken aria-pressed:font-semibold aria-pressed:text-fg max-sm:flex-1"
    >
      <Icon className="size-3.5 shrink-0" aria-hidden="true" />
      {children}
    </button>
  );
}
