import { ShortcutTable } from '@/components/ShortcutTable';
import { useText } from '@/i18n';
import { Section } from './Section';

export function KeysSection() {
  const t = useText('settings');
  return <Section title={t('keys')}><ShortcutTable /></Section>;
}
