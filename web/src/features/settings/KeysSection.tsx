import { ShortcutTable } from '@/components/ShortcutTable';
import { usePageText } from '@/i18n';
import { Section } from './Section';
import { words } from './words';

export function KeysSection() {
  const t = usePageText(words);
  return <Section title={t('keys')}><ShortcutTable /></Section>;
}
