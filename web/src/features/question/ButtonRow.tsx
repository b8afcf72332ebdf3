import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { Button, type ButtonLook } from '@/components/Button';

export interface RowButton {
  label: string;
  look: ButtonLook;
  hint?: string;
  /** Whether the hint is read with the label, rather than on demand. */
  isHintShown?: boolean;
  /** Already chosen, in a batch that is gone through again. */
  pressed?: boolean;
  /** The keys that press it from anywhere in the bar, as in `aria-keyshortcuts`. */
  shortcut?: string;
  /** Changes nothing: where the focus may land. */
  isSafe?: boolean;
  onPress: () => void;
}

/** What a digit does: presses the button, or only goes to it where a slip would cost too much. */
type DigitKeys = 'press' | 'focus';

interface Props {
  buttons: RowButton[];
  digits: DigitKeys;
  /** Nothing is pressed now; the focus stays all the same. */
  isHeld: boolean;
  label: string;
  /** Beside the answers; no digit and no arrow leads there. */
  children?: ReactNode;
}

/** Answers as buttons. Digits count only while the focus is on one of them, so that they can't answer for somebody who is typing. */
export function ButtonRow({ buttons, digits, isHeld, label, children }: Props) {
  const row = useRef<HTMLDivElement>(null);
  const all = () => Array.from(row.current?.querySelectorAll<HTMLButtonElement>('button[data-answer-button]') ?? []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const [shown, here] = [all(), all().indexOf(document.activeElement as HTMLButtonElement)];
    if (here < 0) return;
    const target = /^[1-9]$/.test(event.key) ? shown[Number(event.key) - 1] : shown[STEPS[event.key]?.(here, shown.length) ?? -1];
    if (target === undefined) return;
    event.preventDefault();
    target.focus();
    if (/^[1-9]$/.test(event.key) && digits === 'press') target.click();
  };
  return (
    <div ref={row} role="group" aria-label={label} onKeyDown={onKeyDown} className="flex flex-wrap items-center gap-2">
      {buttons.map((button, place) => (
        <Button
          key={place}
          data-answer-button
          look={button.look}
          data-safe={button.isSafe}
          aria-disabled={isHeld || undefined}
          aria-pressed={button.pressed === true ? true : undefined}
          aria-keyshortcuts={button.shortcut}
          aria-description={button.hint}
          title={button.isHintShown ? undefined : button.hint}
          onClick={() => !isHeld && button.onPress()}
          className="min-h-8.5 max-w-full text-left"
        >
          {place < 9 && buttons.length > 1 && (
            <span aria-hidden="true" className="text-xs font-normal opacity-80">
              {place + 1}
            </span>
          )}
          <span className="min-w-0 break-words">
            {button.label}
            {button.isHintShown && <span aria-hidden className="block text-xs font-normal">{button.hint}</span>}
          </span>
        </Button>
      ))}
      {children}
    </div>
  );
}

const STEPS: Record<string, (here: number, count: number) => number> = {
  ArrowRight: (here, count) => (here + 1) % count,
  ArrowLeft: (here, count) => (here + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};
