import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, UserMinus, UserPlus } from 'lucide-react';
import { useRef, useState, type RefObject } from 'react';
import { Button } from '@/components/Button';
import { TextInput } from '@/components/form';
import { IconButton } from '@/components/IconButton';
import { Loaded } from '@/components/Loaded';
import { Confirm } from '@/components/Modal';
import { useText } from '@/i18n';
import { settingsApi } from '@/lib/api/settings';
import type { Account } from '@/lib/api/types';
import { toast, toastError } from '@/lib/toast';
import { useProblemLine } from '@/lib/problems';
import { useSubmission } from './useSubmission';

/** Everybody who can sign in, for the admins. */
export function Accounts({ own }: { own: string | null }) {
  const t = useText('settings');
  const list = useRef<HTMLUListElement>(null);
  const accounts = useQuery({ queryKey: ['accounts'], queryFn: settingsApi.accounts });
  return (
    <>
      <Loaded query={accounts}>
        {(all) => <ul ref={list} tabIndex={-1} aria-label={t('accounts')} className="divide-y divide-line border-y">{all.map((one) => <Row key={one.id} account={one} isOwn={one.id === own} list={list} />)}</ul>}
      </Loaded>
      <AddAccount />
    </>
  );
}

function Row({ account, isOwn, list }: { account: Account; isOwn: boolean; list: RefObject<HTMLUListElement | null> }) {
  const t = useText('settings');
  const common = useText('common');
  const queries = useQueryClient();
  const safe = useRef<HTMLButtonElement>(null);
  const key = useRef<HTMLButtonElement>(null);
  const [asked, setAsked] = useState<'remove' | 'password' | null>(null);
  const remove = useMutation({
    mutationFn: () => settingsApi.removeAccount(account.id),
    onSuccess: () => toast(t('accountGone', { name: account.name })),
    onError: toastError,
    // Another admin may have been quicker.
    onSettled: async () => {
      setAsked(null);
      await queries.invalidateQueries({ queryKey: ['accounts'] });
      list.current?.focus();
    },
  });
  return (
    <li className="px-3 py-2">
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1 truncate">
          {account.name}{isOwn && <span className="text-muted"> ({t('you')})</span>}
          {account.admin && <span className="ml-2 rounded-full bg-surface px-2 text-xs font-semibold text-muted">{t('admin')}</span>}
        </p>
        {!isOwn && (
          <>
            <IconButton ref={key} label={t('passwordOf', { name: account.name })} aria-expanded={asked === 'password'} onClick={() => setAsked(asked === 'password' ? null : 'password')}><KeyRound size={15} aria-hidden /></IconButton>
            <IconButton label={t('removeAccount', { name: account.name })} onClick={() => setAsked('remove')}><UserMinus size={15} aria-hidden /></IconButton>
          </>
        )}
      </div>
      {asked === 'password' && <PasswordOf account={account} close={() => { setAsked(null); key.current?.focus(); }} />}
      <Confirm isOpen={asked === 'remove'} close={() => setAsked(null)} title={t('removeAccountTitle', { name: account.name })} hint={t('removeAccountHint')} safe={safe}>
        <Button ref={safe} onClick={() => setAsked(null)}>{common('cancel')}</Button>
        <Button look="danger" onClick={() => remove.mutate()} disabled={remove.isPending}>{t('removeIt')}</Button>
      </Confirm>
    </li>
  );
}

/** In place of one that was forgotten. */
function PasswordOf({ account, close }: { account: Account; close: () => void }) {
  const t = useText('settings');
  const lineOf = useProblemLine();
  const [password, setPassword] = useState('');
  const change = useSubmission({
    isWhole: password !== '',
    send: () => settingsApi.setPassword(account.id, password),
    done: () => {
      toast(t('passwordSet', { name: account.name }));
      close();
    },
  });
  return (
    <form onSubmit={change.onSubmit} className="flex flex-col gap-2 pb-1">
      <TextInput label={t('passwordOf', { name: account.name })} type="password" autoComplete="new-password" autoFocus value={password} onChange={(event) => setPassword(event.target.value)} hint={t('signsThemOut')} error={lineOf(change.error)} />
      <Button type="submit" className="self-start" disabled={change.isOff}>{t('setPassword')}</Button>
    </form>
  );
}

const NOBODY = { name: '', password: '', admin: false };

function AddAccount() {
  const t = useText('settings');
  const lineOf = useProblemLine();
  const queries = useQueryClient();
  const [account, setAccount] = useState(NOBODY);
  const add = useSubmission({
    isWhole: account.name.trim() !== '' && account.password !== '',
    send: () => settingsApi.addAccount({ ...account, name: account.name.trim() }),
    done: () => {
      setAccount(NOBODY);
      return queries.invalidateQueries({ queryKey: ['accounts'] });
    },
  });
  return (
    <form onSubmit={add.onSubmit} className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        <TextInput label={t('accountName')} autoComplete="off" maxLength={64} value={account.name} onChange={(event) => setAccount({ ...account, name: event.target.value })} error={lineOf(add.error)} className="flex-1" />
        <TextInput label={t('firstPassword')} type="password" autoComplete="new-password" value={account.password} onChange={(event) => setAccount({ ...account, password: event.target.value })} hint={t('passwordHint')} className="flex-1" />
      </div>
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={account.admin} onChange={(event) => setAccount({ ...account, admin: event.target.checked })} />
        {t('asAdmin')}
      </label>
      <Button type="submit" className="self-start" disabled={add.isOff}><UserPlus size={15} aria-hidden />{t('addAccount')}</Button>
    </form>
  );
}
