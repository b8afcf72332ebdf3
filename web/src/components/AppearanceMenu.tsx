import { SunMoon } from 'lucide-react';
import { lazy } from 'react';
import { useText } from '@/i18n';
import { DropDown } from './DropDown';

const load = () => import('./AppearancePopup');
const Popup = lazy(() => load().then((all) => ({ default: all.AppearancePopup })));

/** Theme and language. */
export function AppearanceMenu() {
  const t = useText('common');
  const button = (
    <button type="button" aria-haspopup="menu" className="flex min-h-8 items-center gap-2 rounded-sm px-2 text-muted hover:bg-bg hover:text-fg pointer-coarse:min-h-11">
      <SunMoon size={15} aria-hidden />
      {t('theme')} · {t('language')}
    </button>
  );
  return <DropDown load={load} button={button} menu={(trigger) => <Popup button={trigger} />} />;
}
