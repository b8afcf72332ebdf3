import { ChevronDown } from 'lucide-react';
import { lazy, type ComponentProps } from 'react';
import { DropDown } from '@/components/DropDown';
import { RoleIcon } from '@/components/RoleIcon';
import { Tip } from '@/components/Tip';
import { useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';
import { useRoleWords } from '@/lib/roles';
import { useSwitching } from './switching';

const load = () => import('./RolePopup');
const RolePopup = lazy(() => load().then((all) => ({ default: all.RolePopup })));

/** The chat's mode and role, and a menu of the roles. */
export function RoleMenu() {
  return <DropDown button={<RoleButton />} menu={(button) => <RolePopup button={button} />} load={load} />;
}

function RoleButton(props: ComponentProps<'button'>) {
  const t = useText('mode');
  const words = useRoleWords();
  const common = useText('common');
  const role = useChatView((view) => view.chat.config.agent_role);
  const mode = useChatView((view) => view.chat.config.agent_mode);
  const isBusy = useSwitching((state) => state.isBusy);
  return (
    <Tip text={words.description(role)}>
      <button
        type="button"
        aria-busy={isBusy}
        aria-haspopup="menu"
        className="flex min-h-7.5 min-w-0 items-center sm:shrink-0 gap-1.5 rounded-sm px-2 text-mode hover:bg-fg/8 pointer-coarse:min-h-11"
        {...props}
      >
        <RoleIcon role={role} />
        <span className="sr-only">{t('role')}{common('colon')}</span>
        <span className="font-semibold">{mode === 'plan' ? t('plan') : t('build')}</span>{' '}
        <span className="truncate group-data-one-line/composer:sr-only @max-2xl:sr-only">{t('asRole', { role: words.title(role) })}</span>
        <ChevronDown size={14} aria-hidden className="shrink-0 group-data-one-line/composer:hidden" />
      </button>
    </Tip>
  );
}
