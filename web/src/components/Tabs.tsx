import type { LucideIcon } from 'lucide-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { Tip } from './Tip';

export interface Tab<T extends string> {
  value: T;
  label: string;
  icon: LucideIcon;
}

interface Props<T extends string> {
  label: string;
  tabs: Tab<T>[];
  value: T;
  choose: (value: T) => void;
  /** Begins the ids of the tabs and of what they show. */
  id: string;
}

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowRight: (at, count) => (at + 1) % count,
  ArrowLeft: (at, count) => (at + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** A row of tabs as icons; what the chosen one shows is a `<TabPanel>` with the same id. */
export function Tabs<T extends string>({ label, tabs, value, choose, id }: Props<T>) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const next = tabs[STEPS[event.key]?.(tabs.findIndex((tab) => tab.value === value), tabs.length) ?? -1];
    if (!next) return;
    event.preventDefault();
    choose(next.value);
    document.getElementById(`${id}-tab-${next.value}`)?.focus();
  };
  return (
    <div role="tablist" aria-label={label} onKeyDown={onKeyDown} className="flex min-w-0 gap-1">
      {tabs.map((tab) => (
        <Tip key={tab.value} text={tab.label}>
          <button
            type="button"
            role="tab"
            aria-label={tab.label}
            id={`${id}-tab-${tab.value}`}
            aria-selected={tab.value === value}
            aria-controls={tab.value === value ? `${id}-shown` : undefined}
            tabIndex={tab.value === value ? 0 : -1}
            onClick={() => choose(tab.value)}
            className="flex size-7.5 items-center justify-center rounded-sm text-fg2 hover:text-fg aria-selected:bg-sunken aria-selected:text-fg pointer-coarse:size-11"
          >
            <tab.icon size={15} aria-hidden />
          </button>
        </Tip>
      ))}
    </div>
  );
}

export function TabPanel({ id, value, children, className = '' }: { id: string; value: string; children: ReactNode; className?: string }) {
  return (
    <div role="tabpanel" tabIndex={0} id={`${id}-shown`} aria-labelledby={`${id}-tab-${value}`} className={className}>
      {children}
    </div>
  );
}
