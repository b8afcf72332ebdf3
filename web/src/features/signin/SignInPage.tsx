import { KeyRound } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { api, ApiError } from '@/lib/api/client';
import { wasRefused } from '@/lib/api/session';
import { problemLine } from '@/lib/problems';

interface Props {
  done: () => void;
  /** Somebody was signed in here. */
  isOver: boolean;
  /** How the server was started: for one person with a token, or for people with accounts. */
  auth: 'token' | 'users';
}

/** Shown when the server does not know who is asking. */
export function SignInPage({ done, isOver, auth }: Props) {
  const t = useText('signin');
  const [way, setWay] = useState<'token' | 'account'>(auth === 'users' ? 'account' : 'token');
  const [error, setError] = useState<string | null>(() => (isOver ? t('over') : wasRefused() ? t('refused') : null));
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    const field = (name: string) => String(typed.get(name) ?? '');
    // A password may begin or end with a space.
    const offer = way === 'token' ? { token: field('token').trim() } : { name: field('name').trim(), password: field('password') };
    api.login(offer).then(done, async (reason: unknown) => setError(reason instanceof ApiError && reason.status === 401 ? t(way === 'token' ? 'wrongToken' : 'wrongAccount') : await problemLine(reason)));
  };
  const change = () => {
    setError(null);
    setWay(way === 'token' ? 'account' : 'token');
  };
  return (
    <main className="flex h-full items-center justify-center bg-surface p-4">
      <form onSubmit={onSubmit} className="flex w-full max-w-sm flex-col gap-3 p-6">
        <h1 className="flex items-center gap-2 text-lg font-semibold"><KeyRound size={18} aria-hidden />{t('title')}</h1>
        <p className="text-muted">{way === 'token' ? t('tokenHint') : t('accountHint')}</p>
        {way === 'token' ? (
          <Field key="token" name="token" label={t('token')} type="password" isWrong={error !== null} />
        ) : (
          <>
            <Field key="name" name="name" label={t('name')} type="text" isWrong={error !== null} />
            <Field key="password" name="password" label={t('password')} type="password" isWrong={error !== null} />
          </>
        )}
        <p id="sign-in-error" role="alert" className="text-critical empty:hidden">{error}</p>
        <Button type="submit" look="primary">{t('signIn')}</Button>
        {auth === 'users' && <Button look="quiet" onClick={change}>{way === 'token' ? t('byAccount') : t('byToken')}</Button>}
      </form>
    </main>
  );
}

function Field({ name, label, type, isWrong }: { name: string; label: string; type: string; isWrong: boolean }) {
  return (
    <label className="flex flex-col gap-1">
      {label}
      <input name={name} type={type} autoComplete={type === 'text' ? 'username' : 'current-password'} required aria-invalid={isWrong} aria-describedby="sign-in-error" className="min-h-9 rounded-sm border border-control bg-bg px-2.5 pointer-coarse:min-h-11" />
    </label>
  );
}
