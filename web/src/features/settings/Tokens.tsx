import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button } from '@/components/Button';
import { CommandText } from '@/components/CommandText';
import { TextInput } from '@/components/form';
import { Loaded } from '@/components/Loaded';
import { Confirm } from '@/components/Modal';
import { useLocale, useText } from '@/i18n';
import { settingsApi } from '@/lib/api/settings';
import type { Token } from '@/lib/api/types';
import { ago } from '@/lib/time';
import { toastError } from '@/lib/toast';
import { useProblemLine } from '@/lib/problems';
import { useSubmission } from './useSubmission';

/** Tokens for scripts: made, shown once, taken back. */
export function Tokens() {
  const t = useText('settings');
  const lineOf = useProblemLine();
  const queries = useQueryClient();
  const tokens = useQuery({ queryKey: ['tokens'], queryFn: settingsApi.tokens });
  const [name, setName] = useState('');
  const make = useSubmission({
    isWhole: name.trim() !== '',
    send: () => settingsApi.makeToken(name.trim()),
    done: () => {
      setName('');
      return queries.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  return (
    <>
      <form onSubmit={make.onSubmit} className="flex flex-wrap items-end gap-2">
        <TextInput label={t('tokenName')} value={name} onChange={(event) => setName(event.target.value)} maxLength={100} error={lineOf(make.error)} autoComplete="off" className="flex-1" />
        <Button type="submit" look="primary" className="min-h-9" disabled={make.isOff}><KeyRound size={15} aria-hidden />{t('makeToken')}</Button>
      </form>
      {make.data && <div role="status"><p className="mb-1">{t('newToken')}</p><CommandText text={make.data.token} /></div>}
      <Loaded query={tokens}>
        {(all) => (all.length === 0 ? <p className="text-muted">{t('noTokens')}</p> : <ul className="divide-y divide-line border-y">{all.map((one) => <Row key={one.id} token={one} />)}</ul>)}
      </Loaded>
    </>
  );
}

function Row({ token }: { token: Token }) {
  const t = useText('settings');
  const common = useText('common');
  const locale = useLocale((state) => state.locale);
  const queries = useQueryClient();
  const safe = useRef<HTMLButtonElement>(null);
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => settingsApi.removeToken(token.id),
    onSuccess: () => {
      setAsking(false);
      return queries.invalidateQueries({ queryKey: ['tokens'] });
    },
    onError: toastError,
  });
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{token.name}</p>
        <p className="text-sm text-muted">{t('made', { when: ago(locale, token.created_at) })} · {token.last_used_at ? t('lastUsed', { when: ago(locale, token.last_used_at) }) : t('neverUsed')}</p>
      </div>
      <Button onClick={() => setAsking(true)} aria-label={t('removeToken', { name: token.name })}>{t('remove')}</Button>
      <Confirm isOpen={isAsking} close={() => setAsking(false)} title={t('removeTokenTitle', { name: token.name })} hint={t('removeTokenHint')} safe={safe}>
        <Button ref={safe} onClick={() => setAsking(false)}>{common('cancel')}</Button>
        <Button look="danger" onClick={() => remove.mutate()} disabled={remove.isPending}>{t('remove')}</Button>
      </Confirm>
    </li>
  );
}
