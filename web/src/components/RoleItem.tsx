import { Menu } from '@base-ui/react/menu';
import { Check, Minus } from 'lucide-react';
import { useText } from '@/i18n';
import type { Role, RolePermissions } from '@/lib/api/types';
import { useRoleWords } from '@/lib/roles';
import { itemClass } from './Popup';
import { RoleIcon } from './RoleIcon';

const RIGHTS = ['can_read_files', 'can_write_files', 'can_create_files', 'can_delete_files', 'can_execute_commands', 'can_write_plans'] as const satisfies (keyof RolePermissions)[];

/** A role of a menu, with what it may do. */
export function RoleItem({ role, isCurrent }: { role: Role; isCurrent: boolean }) {
  const t = useText('mode');
  const words = useRoleWords();
  return (
    <Menu.RadioItem value={role.role} closeOnClick className={`${itemClass} items-start py-2`}>
      <span className="mt-0.5 p-1"><RoleIcon role={role.role} size={16} /></span>
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-2">
          <span className="font-semibold">{words.title(role.role)}</span>
          <span className="text-xs text-muted">{role.mode === 'plan' ? t('plan') : t('build')}</span>
          {isCurrent && <Check size={14} aria-hidden className="ml-auto" />}
        </span>
        <span className="block text-sm text-muted">{words.description(role.role)}</span>
        <span className="mt-1 flex flex-wrap gap-x-2.5 gap-y-0.5 text-xs">
          {RIGHTS.map((right) => <Right key={right} label={t(right)} isGiven={role.permissions[right]} />)}
        </span>
      </span>
    </Menu.RadioItem>
  );
}

function Right({ label, isGiven }: { label: string; isGiven: boolean }) {
  const t = useText('mode');
  return (
    <span className={`inline-flex items-center gap-0.5 ${isGiven ? '' : 'text-muted line-through'}`}>
      {isGiven ? <Check size={12} aria-hidden /> : <Minus size={12} aria-hidden />}
      <span className="sr-only">{isGiven ? t('may') : t('mayNot')} </span>
      {label}
    </span>
  );
}
