import type { RoleName } from '@/lib/api/types';
import { useRoleWords } from '@/lib/roles';
import { RoleIcon } from './RoleIcon';

/** A role by its glyph and its name. */
export function RoleLabel({ role, size = 13, className = '' }: { role: RoleName; size?: number; className?: string }) {
  const { title } = useRoleWords();
  return <span className={`inline-flex items-center gap-1 ${className}`}><RoleIcon role={role} size={size} />{title(role)}</span>;
}
