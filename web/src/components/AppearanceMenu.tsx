import { lazy } from 'react';
import { useText, withWords } from '@/i18n';
import { useMe } from '@/lib/workspaces';
import { Avatar } from './Avatar';
import { DropDown } from './DropDown';

const load = () => withWords('signin', import('./AppearancePopup'));
const Popup = lazy(() => load().then((all) => ({ default: all.AppearancePopup })));

/** Who is signed in; theme, language and signing out. `isShort`: only their initials are visible. */
export function AppearanceMenu({ isShort = false }: { isShort?: boolean }) {
  const t = useText('common');
  const name = useMe().data?.user.name ?? '';
  const button = (
    <button type="button" aria-haspopup="menu" className="flex min-h-8 min-w-0 items-center gap-2 rounded-sm px-2 hover:bg-fg/5 pointer-coarse:min-h-11">
      <Avatar name={name} />
      <span className={isShort ? 'sr-only' : 'truncate'}>{name}</span>{' '}
      <span className="sr-only">{t('appearance')}</span>
    </button>
  );
  return <DropDown load={load} button={button} menu={(trigger) => <Popup button={trigger} />} />;
}
