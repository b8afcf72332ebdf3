import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '@/components/Button';
import { Segments } from '@/components/Segments';
import { useText } from '@/i18n';
import { useRoles, useRoleWords } from '@/lib/roles';
import { RANGES, type useChats, type useFilter } from './useFilter';

/** What the page is about. */
export function Filters({ state, chats, models }: { state: ReturnType<typeof useFilter>; chats: ReturnType<typeof useChats>; models: string[] }) {
  const t = useText('audit');
  const roles = useRoles();
  const { title } = useRoleWords();
  const { days, set, values, isFiltered, clear } = state;
  const offered = values.model && !models.includes(values.model) ? [...models, values.model] : models;
  return (
    <div role="group" aria-label={t('filters')} className="flex flex-wrap items-end gap-3">
      <Segments label={t('range')} value={String(days)} choose={(value) => set('days', value)} choices={RANGES.map((range) => [String(range), t('days', { count: range })])} />
      {chats.workspaces.length > 1 && (
        <Choice label={t('workspace')} value={values.workspace} choose={(value) => set('workspace', value)}>{chats.workspaces.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}</Choice>
      )}
      <Choice label={t('chat')} value={values.chat} choose={(value) => set('chat', value)}>{chats.choices.map((chat) => <option key={chat.id} value={chat.id}>{chat.title}</option>)}</Choice>
      <Choice label={t('model')} value={values.model} choose={(value) => set('model', value)}>{offered.map((model) => <option key={model} value={model}>{model}</option>)}</Choice>
      <Choice label={t('role')} value={values.role} choose={(value) => set('role', value)}>{roles.map(({ role }) => <option key={role} value={role}>{title(role)}</option>)}</Choice>
      {isFiltered && <Button look="quiet" onClick={clear}><X size={14} aria-hidden />{t('clear')}</Button>}
    </div>
  );
}

export function Choice({ label, value, choose, children }: { label: string; value: string; choose: (value: string) => void; children: ReactNode }) {
  const t = useText('audit');
  return (
    <label className="flex max-w-full min-w-0 items-center gap-1.5 text-sm">
      {label}
      <select value={value} onChange={(event) => choose(event.target.value)} className="field-sizing-content min-h-8 max-w-52 min-w-0 rounded-sm border border-control bg-bg px-1.5 text-sm pointer-coarse:min-h-11">
        <option value="">{t('all')}</option>
        {children}
      </select>
    </label>
  );
}
