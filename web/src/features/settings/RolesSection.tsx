import { useQuery } from '@tanstack/react-query';
import { Check, Minus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '@/components/Button';
import { Loaded } from '@/components/Loaded';
import { RoleIcon } from '@/components/RoleIcon';
import { useText } from '@/i18n';
import type { Role, RolePermissions } from '@/lib/api/types';
import { ROLES, useRoleWords } from '@/lib/roles';
import { Section } from './Section';
import { ToolList } from './ToolList';

const RIGHTS: (keyof RolePermissions)[] = ['can_read_files', 'can_write_files', 'can_create_files', 'can_delete_files', 'can_execute_commands', 'can_write_plans'];

/** Roles against what they may do. */
export function RolesSection() {
  const t = useText('settings');
  const roles = useQuery(ROLES);
  const [shown, setShown] = useState<Role | null>(null);
  return (
    <>
      <Section title={t('roles')} hint={t('rolesHint')}>
        <Loaded query={roles}>{(all) => <Matrix roles={all} shown={shown} show={setShown} />}</Loaded>
      </Section>
      {shown && <ToolList role={shown} />}
    </>
  );
}

function Matrix({ roles, shown, show }: { roles: Role[]; shown: Role | null; show: (role: Role | null) => void }) {
  const t = useText('settings');
  const mode = useText('mode');
  const words = useRoleWords();
  return (
    <div tabIndex={0} role="group" aria-label={t('roles')} className="relative overflow-x-auto border-y">
      <table className="w-full border-collapse text-left">
        <thead className="bg-surface text-sm text-muted">
          <tr>
            <th scope="col" className="px-3 py-2 font-medium">{t('role')}</th>
            <th scope="col" className="px-2 py-2 font-medium">{mode('mode')}</th>
            {RIGHTS.map((right) => <th key={right} scope="col" className="px-2 py-2 text-center font-medium">{mode(right)}</th>)}
            <th scope="col" className="px-2 py-2 font-medium">{t('delegates')}</th>
            <th scope="col" className="px-2 py-2 font-medium"><span className="sr-only">{t('showTools')}</span></th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {roles.map((role) => (
            <tr key={role.role} data-mode={role.mode}>
              <th scope="row" title={words.description(role.role)} className="px-3 py-2 font-medium"><span className="flex items-center gap-1.5"><RoleIcon role={role.role} />{words.title(role.role)}</span></th>
              <td className="px-2 py-2 text-mode">{role.mode === 'plan' ? mode('plan') : mode('build')}</td>
              {RIGHTS.map((right) => <td key={right} className="px-2 py-2 text-center"><Mark isGiven={role.permissions[right]} /></td>)}
              <td className="px-2 py-2 text-sm text-muted">{role.can_delegate_to_roles.map((to) => words.title(to)).join(', ') || t('noDelegates')}</td>
              <td className="px-2 py-1"><Button look="quiet" aria-label={t('toolsOf', { role: words.title(role.role) })} aria-pressed={shown?.role === role.role} onClick={() => show(shown?.role === role.role ? null : role)}>{t('showTools')}</Button></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Mark({ isGiven }: { isGiven: boolean }) {
  const t = useText('settings');
  return isGiven ? <Check size={16} aria-label={t('yes')} className="inline" /> : <Minus size={16} aria-label={t('no')} className="inline text-muted" />;
}
