import { Modal } from '@/components/Modal';
import { useText } from '@/i18n';
import { modifier } from '@/lib/keys';

export function ShortcutList({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const t = useText('home');
  const mod = modifier();
  const rows: [string, string][] = [
    ['Enter', t('keySend')],
    ['Shift+Enter', t('keyNewline')],
    [`${mod}+. · Shift+Tab`, t('keyMode')],
    ['Esc Esc', t('keyStop')],
    ['Alt+Q', t('keyQuestion')],
    ['↑', t('keyEdit')],
    [`${mod}+Shift+O`, t('keyNewChat')],
    ['Alt+↑ · Alt+↓', t('keyChats')],
    [`${mod}+B`, t('keySidebar')],
    [`${mod}+J`, t('keyPanel')],
    [`${mod}+/`, t('keyHelp')],
  ];
  return (
    <Modal isOpen={isOpen} close={close} title={t('shortcuts')}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        {rows.map(([keys, what]) => (
          <div key={keys} className="contents"><dt><kbd className="rounded-sm border bg-surface px-1.5">{keys}</kbd></dt><dd>{what}</dd></div>
        ))}
      </dl>
    </Modal>
  );
}
