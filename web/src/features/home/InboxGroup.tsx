import type { ReactNode } from 'react';
import { count } from '@/lib/number';
import { useLocale } from '@/i18n';
import { InboxRow } from './InboxRow';
import type { Row } from './rows';
import type { Selection } from './useSelection';
import type { Text } from '@/i18n';

/** Chats that stand at the same point. */
export function InboxGroup({ t, title, rows, selection, hasPeople, me, children }: { t: Text<'inbox'>; title: string; rows: Row[]; selection: Selection; hasPeople: boolean; me: string; children?: ReactNode }) {
  const locale = useLocale((state) => state.locale);
  return (
    <section aria-label={title}>
      <div className="flex min-h-9 items-center gap-2 border-b max-sm:border-b-0 max-sm:px-4">
        <h2 className="font-semibold max-sm:text-base">{title}</h2>
        <span className="text-muted">{count(locale, rows.length)}</span>
        <span className="ml-auto flex min-w-0 items-center gap-1">{children}</span>
      </div>
      <ul className="sm:py-1">
        {rows.map((row) => <InboxRow key={row.id} t={t} row={row} hasPeople={hasPeople} me={me} isSelected={selection.has(row.id)} toggle={() => selection.toggle(row.id)} />)}
      </ul>
    </section>
  );
}
