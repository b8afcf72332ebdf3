import { usePreferences } from '@/lib/preferences';
import type { Text } from '@/i18n';

/** The keys of the page, at its foot. */
export function KeyHints({ t }: { t: Text<'inbox'> }) {
  const areLettersOn = usePreferences((state) => state.areLettersOn);
  if (!areLettersOn) return null;
  const hints: [string[], string][] = [[['J', 'K'], t('keyMove')], [['Enter'], t('keyOpen')], [['E'], t('keyDone')], [['X'], t('keySelect')], [['C'], t('keyNew')], [['?'], t('keyAll')]];
  return (
    <p className="hidden h-9 shrink-0 items-center justify-end gap-4 px-6 text-xs text-fg2 sm:flex pointer-coarse:hidden">
      {hints.map(([keys, what]) => <span key={what} className="flex items-center gap-1.5">{keys.map((key) => <kbd key={key} className="rounded-sm bg-sunken px-1.5 font-sans text-fg">{key}</kbd>)}{what}</span>)}
    </p>
  );
}
