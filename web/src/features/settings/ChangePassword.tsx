import { useRef, useState } from 'react';
import { Button } from '@/components/Button';
import { TextInput } from '@/components/form';
import { useText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { settingsApi } from '@/lib/api/settings';
import { useProblemLine } from '@/lib/problems';
import { useSubmission } from './useSubmission';

/** One's own password. */
export function ChangePassword() {
  const t = useText('settings');
  const lineOf = useProblemLine();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [old, setOld] = useState('');
  const [fresh, setFresh] = useState('');
  const change = useSubmission({
    isWhole: old !== '' && fresh !== '',
    send: () => settingsApi.changePassword(old, fresh),
    done: () => {
      setOld('');
      setFresh('');
      setOpen(false);
      button.current?.focus();
    },
  });
  const isWrong = change.error instanceof ApiError && change.error.problem.details?.fields?.password !== undefined;
  return (
    <>
      <Button ref={button} className="self-start" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>{t('changePassword')}</Button>
      {change.isSuccess && !isOpen && <p role="status">{t('passwordChanged')}</p>}
      {isOpen && (
        <form onSubmit={change.onSubmit} className="flex flex-col gap-2">
          <TextInput label={t('oldPassword')} type="password" autoComplete="current-password" autoFocus value={old} onChange={(event) => setOld(event.target.value)} error={isWrong ? t('wrongPassword') : null} />
          <TextInput label={t('newPassword')} type="password" autoComplete="new-password" value={fresh} onChange={(event) => setFresh(event.target.value)} hint={t('passwordHint')} error={isWrong ? null : lineOf(change.error)} />
          <Button type="submit" className="self-start" disabled={change.isOff}>{t('setPassword')}</Button>
        </form>
      )}
    </>
  );
}
