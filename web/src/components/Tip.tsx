import { cloneElement, type FocusEvent, type PointerEvent, type ReactElement } from 'react';
import { hideTip, showTip } from '@/lib/tip';

type Props = Record<string, unknown> & {
  onPointerEnter?: (event: PointerEvent<HTMLElement>) => void;
  onPointerLeave?: (event: PointerEvent<HTMLElement>) => void;
  onFocus?: (event: FocusEvent<HTMLElement>) => void;
  onBlur?: (event: FocusEvent<HTMLElement>) => void;
};

/** Explains `children`, a single element, when pointed at or focused by keyboard. `<TipLayer>` shows it. */
export function Tip({ text, children }: { text: string; children: ReactElement<Props> }) {
  const own = children.props;
  return cloneElement(children, {
    'aria-description': own['aria-label'] === text ? undefined : text,
    onPointerEnter: (event: PointerEvent<HTMLElement>) => {
      own.onPointerEnter?.(event);
      if (event.pointerType !== 'touch') showTip(event.currentTarget, text);
    },
    onPointerLeave: (event: PointerEvent<HTMLElement>) => {
      own.onPointerLeave?.(event);
      hideTip(event.currentTarget);
    },
    onFocus: (event: FocusEvent<HTMLElement>) => {
      own.onFocus?.(event);
      if (event.currentTarget.matches(':focus-visible')) showTip(event.currentTarget, text);
    },
    onBlur: (event: FocusEvent<HTMLElement>) => {
      own.onBlur?.(event);
      hideTip(event.currentTarget);
    },
  });
}
