import type { KeyboardEvent, ReactNode } from 'react';

export interface Tab<T extends string> {
  value: T;
  label: ReactNode;
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

/** A row of tabs; what the chosen one shows is a `<TabPanel>` with the same id. */
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
        <button
          key={tab.value}
          type="button"
          role="tab"
          id={`${id}-tab-${tab.value}`}
          aria-selected={tab.value === value}
          aria-controls={tab.value === value ? `${id}-shown` : undefined}
          tabIndex={tab.value === value ? 0 : -1}
          onClick={() => choose(tab.value)}
          className="flex min-h-9 min-w-0 items-center gap-1.5 border-b-2 border-transparent px-2.5 text-sm text-muted hover:text-fg aria-selected:border-[var(--mode,var(--plan))] aria-selected:font-semibold aria-selected:text-fg pointer-coarse:min-h-11"
        >
          {tab.label}
        </button>
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
