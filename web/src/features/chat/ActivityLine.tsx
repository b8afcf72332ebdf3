import { ChevronRight } from 'lucide-react';
import { useId, type ReactNode } from 'react';

interface Props {
  isOpen: boolean;
  toggle: () => void;
  /** In place of the chevron, for a call that needs a look. */
  mark?: ReactNode;
  children: ReactNode;
}

/** One line of what the agent did, without a frame. All of it opens it, but for links in it: so the button lies below its words. */
export function ActivityLine({ isOpen, toggle, mark, children }: Props) {
  const id = useId();
  return (
    <div className="relative -mx-1.5 flex min-h-6.5 min-w-0 items-center gap-2 rounded-sm px-1.5 text-sm text-fg2 hover:bg-surface hover:text-fg pointer-coarse:min-h-11">
      <button type="button" aria-expanded={isOpen} aria-labelledby={id} onClick={toggle} className="absolute inset-0 rounded-sm" />
      <span className="pointer-events-none flex w-3.5 shrink-0 justify-center">{mark ?? <ChevronRight size={14} aria-hidden className={`transition-transform ${isOpen ? 'rotate-90' : ''}`} />}</span>
      <span id={id} className="pointer-events-none relative flex min-w-0 flex-1 items-center gap-2">{children}</span>
    </div>
  );
}

/** Where the details of an open line are: beside a hairline. */
export const detailsClass = 'ml-1.5 border-l border-line2 pl-4';
