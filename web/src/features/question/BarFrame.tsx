import { ArrowDown, ChevronDown, ChevronUp, CircleHelp, FileText, type LucideIcon, Maximize2, Minimize2, OctagonAlert, ShieldQuestion, TriangleAlert } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, type RefObject, use, useRef, useState } from 'react';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import { MoreContext, useMore } from './useMore';
import type { QuestionView } from './view';

/** How a question looks: by its severity, and a plan in the colour of planning. */
export type Tone = 'critical' | 'major' | 'minor' | 'plan';

export function toneOf(view: QuestionView): Tone {
  return view.kind === 'plan_approval' ? 'plan' : view.severity;
}

export const TONES: Record<Tone, { frame: string; words: string }> = {
  critical: { frame: 'border-critical bg-critical-soft', words: 'text-critical' },
  major: { frame: 'border-major bg-major-soft', words: 'text-major' },
  minor: { frame: 'border-control bg-surface', words: 'text-muted' },
  plan: { frame: 'border-plan bg-plan-soft', words: 'text-plan' },
};

export function iconOf(view: QuestionView): LucideIcon {
  if (view.severity === 'critical') return OctagonAlert;
  if (view.kind === 'plan_approval') return FileText;
  if (view.kind === 'tool_approval') return ShieldQuestion;
  return view.severity === 'major' ? TriangleAlert : CircleHelp;
}

/** What decides stays in view, however long the rest is. */
export function BarFoot({ children }: { children: ReactNode }) {
  const t = useText('question');
  const { isMore, scrollOn } = use(MoreContext);
  return (
    <div className={`sticky bottom-0 -mx-4 flex flex-col gap-2 rounded-b-lg bg-inherit px-4 pt-1 pb-4 short:gap-1 short:pb-2 ${isMore ? 'border-t border-control' : ''}`}>
      {isMore && (
        <button type="button" data-more onClick={scrollOn} className="absolute -top-3 right-4 inline-flex min-h-6 items-center gap-1 rounded-full border border-control bg-bg px-2.5 text-xs font-semibold shadow-raised">
          {t('more')}
          <ArrowDown className="size-3.5" aria-hidden="true" />
        </button>
      )}
      {children}
    </div>
  );
}

interface Props {
  view: QuestionView;
  region: RefObject<HTMLElement | null>;
  open: boolean;
  isHeld: boolean;
  onToggle: () => void;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  stepper?: ReactNode;
  children: ReactNode;
}

/** The frame of the bar: severity in colour, icon and word; it can be folded, but not made to go away. */
export function BarFrame({ view, region, open, isHeld, onToggle, onKeyDown, stepper, children }: Props) {
  const t = useText('question');
  const tone = TONES[toneOf(view)];
  const Icon = iconOf(view);
  const heading = { user: t(view.severity), plan_approval: t('planReady'), tool_approval: view.call?.moment === 'after' ? t('keepNeeded') : t('approvalNeeded') }[view.kind];
  const severity = view.severity === 'critical' && view.kind !== 'user' ? `${t('critical')} · ` : '';
  const Fold = open ? ChevronDown : ChevronUp;
  const [isLarge, setLarge] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const more = useMore(box);
  const hasMore = isLarge || more.isMore;
  return (
    <section
      ref={region}
      tabIndex={-1}
      aria-label={t('region')}
      data-severity={view.severity}
      data-kind={view.kind}
      data-held={isHeld || undefined}
      onKeyDown={onKeyDown}
      data-large={isLarge || undefined}
      className={`mb-2 flex min-w-0 flex-col rounded-lg border-2 short:mb-1 ${isLarge ? '' : 'max-h-[50dvh] short:max-h-none'} ${tone.frame}`}
    >
      <header className="flex items-center gap-2 px-4 pt-3 pb-1 short:pt-1">
        <Icon className={`size-4 shrink-0 ${tone.words}`} aria-hidden="true" />
        <p className={`min-w-0 flex-1 truncate text-xs font-semibold tracking-wide uppercase ${tone.words}`}>
          {severity}
          {heading} · {t('waiting')}
        </p>
        {stepper}
        {open && hasMore && (
          <IconButton label={isLarge ? t('shrink') : t('enlarge')} aria-pressed={isLarge} onClick={() => setLarge(!isLarge)} className="-my-1 size-7 short:hidden">
            {isLarge ? <Minimize2 className="size-4" aria-hidden="true" /> : <Maximize2 className="size-4" aria-hidden="true" />}
          </IconButton>
        )}
        <button type="button" onClick={onToggle} aria-expanded={open} className={`inline-flex min-h-6 items-center gap-0.5 rounded-sm px-1 text-sm text-fg/80 underline-offset-2 hover:underline pointer-coarse:min-h-11`}>
          {open ? t('hide') : t('show')}
          <Fold className="size-3.5" aria-hidden="true" />
        </button>
      </header>
      <div ref={box} hidden={!open} className="min-h-0 overflow-y-auto scroll-pb-16 rounded-b-lg bg-inherit px-4 pt-0.5">
        <MoreContext value={more}>{children}</MoreContext>
      </div>
    </section>
  );
}
