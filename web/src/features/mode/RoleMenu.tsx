import { ChevronDown } from 'lucide-react';
import { lazy, type ComponentProps } from 'react';
import { DropDown } from '@/components/DropDown';
import { RoleIcon } from '@/components/RoleIcon';
import { Tip } from '@/components/Tip';
import { useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';
import { useSwitching } from './switching';

const load = () => import('./RolePopup');
const RolePopup = lazy(() => load().then((all) => ({ default: all.RolePopup })));

/** The chat's role, and a menu of the others. */
export function RoleMenu() {
  return <DropDown button={<RoleButton />} menu={(button) => <RolePopup button={button} />} load={load} />;
}

function RoleButton(props: ComponentProps<'button'>) {
  const t = useText('mode');
  const role = useChatView((view) => view.chat.config.agent_role);
  const isBusy = useSwitching((state) => state.isBusy);
  return (
    <Tip text={t(`${role}Hint`)}>
      <button
        type="button"
        data-role={role}
        aria-label={t('roleIs', { role: t(role) })}
        aria-busy={isBusy}
        aria-haspopup="menu"
        className="flex min-h-8 shrink-0 items-center gap-1.5 rounded-sm border border-control bg-bg px-2.5 text-role hover:bg-surface disabled:opacity-55 disabled:hover:bg-bg pointer-coarse:min-h-11"
        {...props}
      >
        <RoleIcon role={role} />
        <span className="font-medium text-fg max-lg:sr-only">{t(role)}</span>
        <ChevronDown size={14} aria-hidden className="text-fg max-sm:hidden" />
      </button>
    </Tip>
  );
}
