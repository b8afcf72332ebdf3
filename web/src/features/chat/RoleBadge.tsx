import type { ReactNode } from 'react';
import { RoleIcon } from '@/components/RoleIcon';
import { Tip } from '@/components/Tip';
import { useLocale, useText } from '@/i18n';
import type { RoleName } from '@/lib/api/types';
import { clock } from '@/lib/time';

/** Who wrote a message; `children` are what can be done with it. */
export function RoleBadge({ role, at, children }: { role: RoleName; at?: string; children?: ReactNode }) {
  const t = useText('mode');
  const locale = useLocale((state) => state.locale);
  return (
    <div data-role={role} className="mb-1 flex h-6 items-center gap-2">
      <Tip text={t(`${role}Hint`)}>
        <span className="inline-flex items-center gap-1.5 rounded-full bg-role-soft py-0.5 pr-2.5 pl-2 text-xs font-semibold text-role" data-testid="role-badge">
          <RoleIcon role={role} size={13} />
          {t(role)}
        </span>
      </Tip>
      {at && <time dateTime={at} className="text-xs text-muted">{clock(locale, at)}</time>}
      {children && <div className="ml-auto flex items-center opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">{children}</div>}
    </div>
  );
}
