import { ChevronDown } from 'lucide-react';
import { lazy, type ComponentProps } from 'react';
import { DropDown } from '@/components/DropDown';
import { RoleIcon } from '@/components/RoleIcon';
import { useText } from '@/i18n';
import type { Mode, Role, RoleName } from '@/lib/api/types';
import { useRoleWords } from '@/lib/roles';

const load = () => import('./NewRolePopup');
const NewRolePopup = lazy(() => load().then((all) => ({ default: all.NewRolePopup })));

/** The mode and role of a chat that is not there yet. */
export function NewRoleMenu({ label, role, mode, choose, isShort = false }: { label: string; role: RoleName | undefined; mode: Mode; choose: (role: Role) => void; isShort?: boolean }) {
  return <DropDown load={load} button={<RoleButton label={label} role={role} mode={mode} isShort={isShort} />} menu={(button) => <NewRolePopup button={button} role={role} choose={choose} />} />;
}

function RoleButton({ label, role, mode, isShort, ...rest }: ComponentProps<'button'> & { label: string; role: RoleName | undefined; mode: Mode; isShort: boolean }) {
  const t = useText('mode');
  const words = useRoleWords();
  const common = useText('common');
  return (
    <button type="button" aria-haspopup="menu" className="flex min-h-7.5 min-w-0 shrink-0 items-center gap-1.5 rounded-sm px-2 text-mode hover:bg-fg/5 pointer-coarse:min-h-11" {...rest}>
      {role && <RoleIcon role={role} />}
      <span className="sr-only">{label}{common('colon')}</span>
      <span className="font-semibold">{mode === 'plan' ? t('plan') : t('build')}</span>{' '}
      {!isShort && <><span className="truncate">{role && t('asRole', { role: words.title(role) })}</span><ChevronDown size={14} aria-hidden className="shrink-0" /></>}
    </button>
  );
}
