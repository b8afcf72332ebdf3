import { SlidersHorizontal } from 'lucide-react';
import { useState, type RefObject } from 'react';
import { Button } from '@/components/Button';
import { ChipSelect } from '@/components/ChipSelect';
import { IconButton } from '@/components/IconButton';
import type { RoleName, Workspace } from '@/lib/api/types';
import { useRoles, useRoleWords } from '@/lib/roles';
import { setFilter, useFilter } from './filter';
import { isFiltered, NO_FILTER, type Shown } from './rows';
import type { Text } from '@/i18n';

interface FilterProps {
  t: Text<'inbox'>;
  workspaces: Workspace[];
  people: string[];
  me: string;
  field: RefObject<HTMLInputElement | null>;
  /** Where there is little room all filters come and go together. */
  isNarrow: boolean;
}

/** By workspace and person at once; text, role and state behind a button. */
export function Filters({ t, workspaces, people, me, field, isNarrow }: FilterProps) {
  const filter = useFilter((state) => state.filter);
  const [isOpen, setOpen] = useState(filter.role !== '' || filter.shown !== 'open');
  const roles = useRoles();
  const { title } = useRoleWords();
  const shows: [Shown, string][] = [['open', t('open')], ['all', t('all')], ['archived', t('archived')]];
  const persons: [string, string][] = [['', t('anyPerson')], [me, t('mine')], ...people.filter((name) => name !== me).map((name): [string, string] => [name, name])];
  return (
    <div role="search" aria-label={t('filter')} className="flex min-w-0 flex-wrap items-center justify-end gap-x-1">
      <input ref={field} type="search" value={filter.text} onChange={(event) => setFilter({ text: event.target.value })} onFocus={() => setOpen(true)} placeholder={t('filterHint')} aria-label={t('filter')} className={`h-7.5 w-44 rounded-sm border border-control bg-bg px-2 placeholder:text-muted pointer-coarse:h-11 ${isOpen || filter.text !== '' ? '' : 'sr-only focus:not-sr-only'}`} />
      {isOpen && (
        <>
          <ChipSelect label={t('role')} value={filter.role} options={[['', t('anyRole')], ...roles.map(({ role }): [RoleName, string] => [role, title(role)])]} choose={(role) => setFilter({ role })} />
          <ChipSelect label={t('state')} value={filter.shown} options={shows} choose={(shown) => setFilter({ shown })} />
        </>
      )}
      {(isOpen || !isNarrow) && workspaces.length > 1 && <ChipSelect label={t('workspace')} value={filter.workspace} options={[['', t('anyWorkspace', { count: workspaces.length })], ...workspaces.map(({ id, name }): [string, string] => [id, name])]} choose={(workspace) => setFilter({ workspace })} className="max-w-50" />}
      {(isOpen || !isNarrow) && people.length > 1 && <ChipSelect label={t('person')} value={filter.person} options={persons} choose={(person) => setFilter({ person })} className="max-w-45" />}
      {isFiltered(filter) && <Button look="quiet" onClick={() => setFilter({ ...NO_FILTER, shown: filter.shown })} className="px-2!">{t('clear')}</Button>}
      <IconButton label={isOpen ? t('hideFilters') : t('filter')} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="size-7.5"><SlidersHorizontal size={15} aria-hidden /></IconButton>
    </div>
  );
}
