import { Choices } from '@/components/form';
import { setLocale, useLocale, useText, type Locale } from '@/i18n';
import { setLetters, setShiftTab, usePreferences } from '@/lib/preferences';
import { setTheme, useTheme, type Theme } from '@/lib/theme';
import { toastError } from '@/lib/toast';
import { Section } from './Section';

const LANGUAGES: [Locale, string][] = [['en', 'English'], ['zh', '中文']];

export function AppearanceSection() {
  const t = useText('settings');
  const common = useText('common');
  const theme = useTheme((state) => state.theme);
  const locale = useLocale((state) => state.locale);
  const isShiftTabOn = usePreferences((state) => state.isShiftTabOn);
  const areLettersOn = usePreferences((state) => state.areLettersOn);
  const themes: [Theme, string][] = [['system', common('themeSystem')], ['light', common('themeLight')], ['dark', common('themeDark')]];
  return (
    <Section title={t('appearance')}>
      <Choices label={t('theme')} value={theme} options={themes} choose={setTheme} />
      <Choices label={t('language')} value={locale} options={LANGUAGES} choose={(chosen) => void setLocale(chosen).catch(toastError)} />
      <label className="flex items-start gap-2.5">
        <input type="checkbox" checked={isShiftTabOn} onChange={(event) => setShiftTab(event.target.checked)} className="mt-1" />
        <span>{t('shiftTab')}<span className="block text-sm text-muted">{t('shiftTabHint')}</span></span>
      </label>
      <label className="flex items-start gap-2.5">
        <input type="checkbox" checked={areLettersOn} onChange={(event) => setLetters(event.target.checked)} className="mt-1" />
        <span>{t('letters')}<span className="block text-sm text-muted">{t('lettersHint')}</span></span>
      </label>
    </Section>
  );
}
