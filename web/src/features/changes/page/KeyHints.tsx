import { useText } from '@/i18n';
import { showDialog } from '@/lib/dialogs';
import { usePreferences } from '@/lib/preferences';

/** The keys of the page, below it. */
export function KeyHints() {
  const t = useText('changesPage');
  const isOn = usePreferences((state) => state.areLettersOn);
  if (!isOn) return null;
  const hints: [string[], string][] = [[['J', 'K'], t('keyFile')], [['N', 'P'], t('keyHunk')], [['C'], t('keyComment')], [['V'], t('keyViewed')], [['Z'], t('keyTakeBack')], [['[', ']'], t('keyStep')], [['U'], t('keySplit')]];
  return (
    <footer className="review-hints max-sm:hidden pointer-coarse:hidden">
      {hints.map(([keys, what]) => <span key={what} className="inline-flex items-center gap-1">{keys.map((key) => <kbd key={key}>{key}</kbd>)} {what}</span>)}
      <button type="button" onClick={() => showDialog({ kind: 'shortcuts' })} className="ml-auto inline-flex items-center gap-1 hover:text-fg"><kbd>?</kbd> {t('keyAll')}</button>
    </footer>
  );
}
