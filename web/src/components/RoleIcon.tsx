import { Compass, Eye, FlaskConical, PencilRuler, Search, Zap, type LucideIcon } from 'lucide-react';
import type { Mode, RoleName } from '@/lib/api/types';

export const ROLE_ICONS: Record<RoleName, LucideIcon> = { planner: Search, actor: Zap, reviewer: Eye, commander: Compass, designer: PencilRuler, tester: FlaskConical };
const MODES: Record<Mode, LucideIcon> = { plan: Search, act: Zap };

export function RoleIcon({ role, size = 14 }: { role: RoleName; size?: number }) {
  const Icon = ROLE_ICONS[role];
  return <Icon size={size} data-role={role} aria-hidden className="shrink-0 text-role" />;
}

export function ModeIcon({ mode, size = 14 }: { mode: Mode; size?: number }) {
  const Icon = MODES[mode];
  return <Icon size={size} aria-hidden className="shrink-0" />;
}
