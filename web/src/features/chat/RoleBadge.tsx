import type { ReactNode } from 'react';
import { RoleIcon } from '@/components/RoleIcon';
import { Tip } from '@/components/Tip';
import { useLocale } from '@/i18n';
import type { RoleName } from '@/lib/api/types';
import { useRoleWords } from '@/lib/roles';
import { clock } from '@/lib/time';

/** Shown when its message is pointed at or has the focus, and always where nothing can be pointed at. */
export const onDemand = 'opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100';

/** Who wrote a message; `children` are what can be done with it. */
export function RoleBadge({ role, at, children }: { role: RoleName; at?: string; children?: ReactNode }) {
  const words = useRoleWords();
  const locale = useLocale((state) => state.locale);
  return (
    <div className="flex h-6 items-center gap-2">
      <Tip text={words.description(role)}>
        <span className="inline-flex items-center gap-1.5 font-semibold text-fg2" data-testid="role-badge">
          <RoleIcon role={role} size={13} />
          {words.title(role)}
        </span>
      </Tip>
      {at && <time dateTime={at} className={`text-xs text-muted ${onDemand}`}>{clock(locale, at)}</time>}
      {children && <div className={`ml-auto flex items-center ${onDemand}`}>{children}</div>}
    </div>
  );
}
