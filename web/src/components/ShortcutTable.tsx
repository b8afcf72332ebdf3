import { useText } from '@/i18n';
import { modifier } from '@/lib/keys';

/** Every key that does something, and what. */
export function ShortcutTable() {
  const t = useText('keys');
  const mod = modifier();
  const rows: [string, string][] = [
    [`${mod}+K`, t('keyPalette')],
    ['Enter', t('keySend')],
    ['Shift+Enter', t('keyNewline')],
    ['/ · @', t('keyCommands')],
    [`${mod}+. · Shift+Tab`, t('keyMode')],
    ['Esc Esc', t('keyStop')],
    [`${mod}+F`, t('keyFind')],
    ['Alt+Q', t('keyQuestion')],
    ['1 … 9', t('keyAnswer')],
    ['Alt+A · Alt+Shift+A · Alt+D · Alt+R', t('keyApprove')],
    [`${mod}+Enter`, t('keyExecute')],
    ['↑ · ↓', t('keyHistory')],
    [`${mod}+Shift+O`, t('keyNewChat')],
    ['Alt+↑ · Alt+↓', t('keyChats')],
    [`${mod}+B`, t('keySidebar')],
    [`${mod}+J`, t('keyPanel')],
    ['End', t('keyEnd')],
    ['J K Enter E X C /', t('keyInbox')],
    ['J K C E S T O · Alt+Shift+↑ ↓', t('keyPlan')],
    ['J K N P C V Z [ ] U /', t('keyChanges')],
    [`${mod}+/ · ?`, t('keyHelp')],
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
      {rows.map(([keys, what]) => (
        <div key={keys} className="contents"><dt><kbd className="rounded-sm border bg-surface px-1.5 whitespace-nowrap">{keys}</kbd></dt><dd>{what}</dd></div>
      ))}
    </dl>
  );
}
