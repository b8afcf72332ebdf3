import { RoleIcon } from '@/components/RoleIcon';
import { Tip } from '@/components/Tip';
import { useLocale, useText } from '@/i18n';
import type { RoleName } from '@/lib/api/types';
import { clock } from '@/lib/time';

/** Who wrote a message. */
export function RoleBadge({ role, at }: { role: RoleName; at?: string }) {
  const t = useText('mode');
  const locale = useLocale((state) => state.locale);
  return (
    <div data-role={role} className="mb-1 flex items-center gap-2">
      <Tip text={t(`${role}Hint`)}>
        <span className="inline-flex items-center gap-1.5 rounded-full bg-role-soft py-0.5 pr-2.5 pl-2 text-xs font-semibold text-role" data-testid="role-badge">
          <RoleIcon role={role} size={13} />
          {t(role)}
        </span>
      </Tip>
      {at && <time dateTime={at} className="text-xs text-muted">{clock(locale, at)}</time>}
    </div>
  );
}
