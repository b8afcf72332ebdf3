import { Compass, Eye, FlaskConical, PencilRuler, Search, UserRound, Zap, type LucideIcon } from 'lucide-react';
import type { Mode, Role, RoleName } from '@/lib/api/types';
import { useRoles } from '@/lib/roles';

/** By the names that the server gives to icons. */
const ICONS: Record<string, LucideIcon> = { 'magnifying-glass': Search, 'lightning-bolt': Zap, eye: Eye, compass: Compass, 'pencil-ruler': PencilRuler, flask: FlaskConical };
const MODES: Record<Mode, LucideIcon> = { plan: Search, act: Zap };

export const iconOf = (role: Role | undefined): LucideIcon => ICONS[role?.icon ?? ''] ?? UserRound;

/** A role's glyph, the only place of its colour. */
export function RoleIcon({ role, size = 14 }: { role: RoleName; size?: number }) {
  const row = useRoles().find((one) => one.role === role);
  const Icon = iconOf(row);
  return <Icon size={size} data-colour={row?.colour} aria-hidden className="shrink-0 text-role" />;
}

export function ModeIcon({ mode, size = 14 }: { mode: Mode; size?: number }) {
  const Icon = MODES[mode];
  return <Icon size={size} aria-hidden className="shrink-0" />;
}
