import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';

interface Props {
  isOpen: boolean;
  toggle: () => void;
  /** In place of the chevron, for a call that needs a look. */
  mark?: ReactNode;
  children: ReactNode;
}

/** One line of what the agent did, without a frame. It opens. */
export function ActivityLine({ isOpen, toggle, mark, children }: Props) {
  return (
    <button type="button" aria-expanded={isOpen} onClick={toggle} className="-mx-1.5 flex min-h-6.5 w-[calc(100%+0.75rem)] min-w-0 items-center gap-2 rounded-sm px-1.5 text-left text-sm text-fg2 hover:bg-surface hover:text-fg pointer-coarse:min-h-11">
      <span className="flex w-3.5 shrink-0 justify-center">{mark ?? <ChevronRight size={14} aria-hidden className={`transition-transform ${isOpen ? 'rotate-90' : ''}`} />}</span>
      {children}
    </button>
  );
}

/** Where the details of an open line are: beside a hairline. */
export const detailsClass = 'ml-1.5 border-l border-line2 pl-4';
