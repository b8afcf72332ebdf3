// What can be done from any page by its name.
import { CircleHelp, FolderPlus, House, Keyboard, Languages, Plus, Settings, SunMoon } from 'lucide-react';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { setLocale, useLocale, useText } from '@/i18n';
import { useOffer, type Command } from '@/lib/commands';
import { showDialog } from '@/lib/dialogs';
import { modifier } from '@/lib/keys';
import { setTheme } from '@/lib/theme';
import { toastError } from '@/lib/toast';
import { useAddsFolders } from '@/lib/workspaces';

/** `newChat` is nothing where the user may make none. */
export function useCommandsEverywhere(newChat: (() => void) | null): void {
  const t = useText('command');
  const locale = useLocale((state) => state.locale);
  const [, navigate] = useLocation();
  const addsFolders = useAddsFolders();
  const commands = useMemo((): Command[] => {
    const mod = modifier();
    const isDark = () => document.documentElement.dataset.theme === 'dark';
    const making: Command[] = newChat ? [{ name: 'new', label: t('new'), icon: Plus, keys: `${mod}+Shift+O`, run: newChat }] : [];
    const adding: Command[] = addsFolders ? [{ name: 'add-folder', label: t('addFolder'), icon: FolderPlus, run: () => showDialog({ kind: 'add-folder' }) }] : [];
    return [
      ...making,
      { name: 'home', label: t('home'), icon: House, run: () => navigate('/') },
      ...adding,
      { name: 'settings', label: t('settings'), icon: Settings, run: () => navigate('/settings') },
      { name: 'model', label: t('model'), icon: CircleHelp, run: () => navigate('/settings/models') },
      { name: 'theme', label: t('theme'), icon: SunMoon, run: () => setTheme(isDark() ? 'light' : 'dark') },
      { name: 'language', label: t('language'), icon: Languages, run: () => void setLocale(locale === 'en' ? 'zh' : 'en').catch(toastError) },
      { name: 'keys', label: t('keys'), icon: Keyboard, keys: `${mod}+/`, run: () => showDialog({ kind: 'shortcuts' }) },
    ];
  }, [t, locale, navigate, newChat, addsFolders]);
  useOffer('everywhere', commands);
}
