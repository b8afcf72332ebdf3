import { ArrowDown, ChevronDown, ChevronUp, CircleHelp, FileText, type LucideIcon, Maximize2, Minimize2, OctagonAlert, ShieldQuestion, TriangleAlert } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, type RefObject, use, useRef, useState } from 'react';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import { MoreContext, useMore } from './useMore';
import type { QuestionView } from './view';

/** How a question looks: by its severity; a plan is never more than neutral. */
const TONES = {
  critical: { frame: 'border-critical-line', icon: 'text-critical' },
  major: { frame: 'border-major-line', icon: 'text-major' },
  minor: { frame: 'border-line2', icon: 'text-fg2' },
};

function iconOf(view: QuestionView): LucideIcon {
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
    <div className={`sticky bottom-0 -mr-4 -ml-2.5 flex flex-col gap-2 bg-bg pr-4 pl-2.5 pt-1 pb-4 short:gap-1 short:pb-2 ${isMore ? 'border-t' : ''}`}>
      {isMore && (
        <button type="button" data-more onClick={scrollOn} className="absolute -top-3 right-4 inline-flex min-h-6 items-center gap-1 rounded-full border border-line2 bg-bg px-2.5 text-xs font-medium shadow-raised">
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

/** The frame of the bar: what is asked beside the icon of its severity. It can be folded, but not made to go away. */
export function BarFrame({ view, region, open, isHeld, onToggle, onKeyDown, stepper, children }: Props) {
  const t = useText('question');
  const tone = TONES[view.kind === 'plan_approval' ? 'minor' : view.severity];
  const Icon = iconOf(view);
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
      className={`relative mb-2.5 flex min-w-0 overflow-hidden rounded-lg border bg-bg shadow-raised short:mb-1 ${isLarge ? '' : 'max-h-[60dvh] short:max-h-none'} ${tone.frame}`}
    >
      <span className={`mt-3 ml-4 shrink-0 max-sm:ml-3 short:mt-1.5 ${tone.icon}`}><Icon className="my-0.75 size-4" aria-hidden="true" /><span className="sr-only">{t(view.severity)}</span></span>
      {!open && <p className="min-w-0 flex-1 truncate px-2.5 py-3 font-medium">{t('pending')}</p>}
      <div ref={box} hidden={!open} className={`min-h-0 min-w-0 flex-1 scroll-pb-16 overflow-y-auto px-4 pt-3 pl-2.5 short:pt-1 ${stepper ? 'sm:[--corner:10rem] max-sm:pt-12' : ''}`}>
        <MoreContext value={more}>{children}</MoreContext>
      </div>
      <div className="absolute top-2 right-2 flex items-center gap-0.5 bg-bg pl-2 text-muted">
        {stepper}
        {open && hasMore && (
          <IconButton label={isLarge ? t('shrink') : t('enlarge')} aria-pressed={isLarge} onClick={() => setLarge(!isLarge)} className="size-7 short:hidden">
            {isLarge ? <Minimize2 className="size-3.5" aria-hidden="true" /> : <Maximize2 className="size-3.5" aria-hidden="true" />}
          </IconButton>
        )}
        <IconButton label={open ? t('hide') : t('show')} aria-expanded={open} onClick={onToggle} className="size-7"><Fold className="size-4" aria-hidden="true" /></IconButton>
      </div>
    </section>
  );
}

/** Room beside a title for what stands in the corner; on a phone the dots of several questions stand above it. */
export const titleClass = 'pr-[var(--corner,5rem)] text-lg font-semibold break-words [&_.prose]:text-lg';
