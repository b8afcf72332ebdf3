import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { Button } from '@/components/Button';
import { TextInput } from '@/components/form';
import { usePageText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { settingsApi } from '@/lib/api/settings';
import { words } from './words';

/** One's own password. */
export function ChangePassword() {
  const t = usePageText(words);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [old, setOld] = useState('');
  const [fresh, setFresh] = useState('');
  const change = useMutation({
    mutationFn: () => settingsApi.changePassword(old, fresh),
    onSuccess: () => {
      setOld('');
      setFresh('');
      setOpen(false);
      button.current?.focus();
    },
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (old && fresh) change.mutate();
  };
  const isWrong = change.error instanceof ApiError && change.error.problem.details?.fields?.password !== undefined;
  return (
    <>
      <Button ref={button} className="self-start" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>{t('changePassword')}</Button>
      {change.isSuccess && !isOpen && <p role="status">{t('passwordChanged')}</p>}
      {isOpen && (
        <form onSubmit={onSubmit} className="flex flex-col gap-2">
          <TextInput label={t('oldPassword')} type="password" autoComplete="current-password" autoFocus value={old} onChange={(event) => setOld(event.target.value)} error={isWrong ? t('wrongPassword') : null} />
          <TextInput label={t('newPassword')} type="password" autoComplete="new-password" value={fresh} onChange={(event) => setFresh(event.target.value)} hint={t('passwordHint')} error={isWrong ? null : (change.error?.message ?? null)} />
          <Button type="submit" look="primary" className="self-start" disabled={old === '' || fresh === '' || change.isPending}>{t('setPassword')}</Button>
        </form>
      )}
    </>
  );
}
