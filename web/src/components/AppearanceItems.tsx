import { Menu } from '@base-ui/react/menu';
import { Check } from 'lucide-react';
import { setLocale, useLocale, useText, type Locale } from '@/i18n';
import { setTheme, useTheme, type Theme } from '@/lib/theme';
import { toastError } from '@/lib/toast';
import { itemClass } from './Popup';

const LANGUAGES: [Locale, string][] = [['en', 'English'], ['zh', '中文']];

/** Theme and language, as items of a menu. */
export function AppearanceItems({ isFirst = false }: { isFirst?: boolean }) {
  const t = useText('common');
  const theme = useTheme((state) => state.theme);
  const locale = useLocale((state) => state.locale);
  const themes: [Theme, string][] = [['system', t('themeSystem')], ['light', t('themeLight')], ['dark', t('themeDark')]];
  return (
    <>
      {!isFirst && <Menu.Separator className="my-1 h-px bg-line" />}
      <Choices label={t('theme')} value={theme} choices={themes} choose={setTheme} />
      <Menu.Separator className="my-1 h-px bg-line" />
      <Choices label={t('language')} value={locale} choices={LANGUAGES} choose={(chosen) => void setLocale(chosen).catch(toastError)} />
    </>
  );
}

function Choices<T extends string>({ label, value, choices, choose }: { label: string; value: T; choices: [T, string][]; choose: (value: T) => void }) {
  return (
    <Menu.Group>
      <Menu.GroupLabel className="px-2 pt-1 text-xs text-muted">{label}</Menu.GroupLabel>
      <Menu.RadioGroup value={value} onValueChange={choose}>
        {choices.map(([key, name]) => (
          <Menu.RadioItem key={key} value={key} className={itemClass}>
            <Menu.RadioItemIndicator keepMounted className="data-unchecked:invisible"><Check size={14} aria-hidden /></Menu.RadioItemIndicator>
            {name}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </Menu.Group>
  );
}
