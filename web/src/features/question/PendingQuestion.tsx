import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { part } from '@/components/part';
import { Skeleton } from '@/components/Skeleton';
import { withWords } from '@/i18n';
import { useChatView } from '@/lib/chat/context';
import { handFocusOn } from '@/lib/focus';
import { BarFrame } from './BarFrame';
import type { Decision } from './call';
import { PlanApproval } from './PlanApproval';
import { Stepper } from './Stepper';
import { UserQuestion } from './UserQuestion';
import { useAnswering } from './useAnswering';
import type { QuestionView } from './view';

const StepStop = part(() => withWords('planPage', import('./StepStop')).then((all) => all.StepStop), null);
const CallApproval = part(() => withWords('review', import('./approval/CallApproval')).then((all) => all.CallApproval), <Skeleton rows={2} />);

/** The question that waits, with its form. */
export function PendingQuestion({ view }: { view: QuestionView }) {
  const given = useAnswering(view);
  const region = useRef<HTMLElement>(null);
  const [open, setOpen] = useState(true);
  const edited = useIsEdited(view);
  useJump(region, view, () => setOpen(true));
  useKeptFocus(region, view, given.answering.step);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const decision = view.kind === 'tool_approval' ? decisionOf(event) : undefined;
    if (decision === undefined) return;
    event.preventDefault();
    void given.pick(decision);
  };
  const { answering } = given;
  return (
    <BarFrame
      view={view}
      region={region}
      open={open}
      isHeld={given.held}
      onToggle={() => setOpen(!open)}
      onKeyDown={onKeyDown}
      stepper={answering.parts.length > 1 ? <Stepper answering={answering} onGo={given.goTo} /> : undefined}
    >
      {view.kind === 'user' && <UserQuestion view={view} given={given} />}
      {view.kind === 'plan_approval' && <PlanApproval view={view} given={given} edited={edited} />}
      {view.kind === 'step_stop' && <StepStop view={view} given={given} />}
      {view.kind === 'tool_approval' && <CallApproval view={view} given={given} />}
    </BarFrame>
  );
}

/** By `code`, since Alt makes other letters on some keyboards. */
function decisionOf(event: KeyboardEvent): Decision | undefined {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.nativeEvent.isComposing) return undefined;
  if (event.code === 'KeyA') return event.shiftKey ? 'approve_always' : 'approve';
  return event.code === 'KeyD' && !event.shiftKey ? 'deny' : undefined;
}

const CONTROLS = 'form input, form textarea, form button, [role="group"] button';

/** Where the focus lands: the first field or button, but never a button whose Enter would decide something grave. */
function landing(bar: HTMLElement | null, { kind, severity }: QuestionView): HTMLElement | null {
  if (bar === null || kind === 'plan_approval') return bar;
  if (kind === 'tool_approval') return bar.querySelector<HTMLElement>('[data-safe="true"]') ?? bar;
  const fields = bar.querySelector<HTMLElement>('form input, form textarea, form [role="switch"]');
  const first = fields ?? bar.querySelector<HTMLElement>(CONTROLS);
  return fields === null && severity === 'critical' ? bar : (first ?? bar);
}

/** What had the focus goes with each step, and with the question itself; then the next control gets it, or the composer. */
function useKeptFocus(region: RefObject<HTMLElement | null>, view: QuestionView, step: number): void {
  const shown = useRef(step);
  useLayoutEffect(() => {
    const bar = region.current;
    return () => {
      if (bar?.contains(document.activeElement) === true) handFocusOn();
    };
  }, [region]);
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    // Only a step that was taken in the bar changes it, so nobody is taken away from elsewhere.
    landing(region.current, view)?.focus();
  }, [region, view, step]);
}

/** Alt+Q, from anywhere: to the question. */
function useJump(region: RefObject<HTMLElement | null>, view: QuestionView, open: () => void): void {
  const openNow = useRef(open);
  openNow.current = open;
  useEffect(() => {
    const jump = () => {
      const land = () => landing(region.current, view)?.focus();
      openNow.current();
      // At once, so that the next key is meant for it; what is in a fold is there a frame later, unless that key has moved on.
      land();
      const at = document.activeElement;
      requestAnimationFrame(() => document.activeElement === at && land());
    };
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (event.code !== 'KeyQ' || !event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
      event.preventDefault();
      jump();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [region, view]);
}

/** Whether the plan that is to be approved is another than the newest that the history shows. */
function useIsEdited(view: QuestionView): boolean {
  const shown = useChatView(({ messages }) => messages.findLast((message) => message.message_type === 'plan' && message.metadata.plan_file === view.plan?.plan_file)?.metadata.sha256);
  return view.kind === 'plan_approval' && shown !== undefined && shown !== view.plan?.sha256;
}
