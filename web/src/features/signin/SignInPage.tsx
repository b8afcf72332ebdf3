import { KeyRound } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { signIn } from '@/lib/api/session';

/** Shown when the server does not know who is asking. */
export function SignInPage({ done }: { done: () => void }) {
  const t = useText('signin');
  const [error, setError] = useState<string | null>(null);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('token')).trim();
    signIn(typed).then(done, (reason: unknown) => setError(reason instanceof ApiError && reason.status === 401 ? t('wrong') : String(reason)));
  };
  return (
    <main className="flex h-full items-center justify-center bg-surface p-4">
      <form onSubmit={onSubmit} className="flex w-full max-w-sm flex-col gap-3 rounded-lg border bg-bg p-6 shadow-raised">
        <h1 className="flex items-center gap-2 text-lg font-semibold"><KeyRound size={18} aria-hidden />{t('title')}</h1>
        <p className="text-muted">{t('hint')}</p>
        <label className="flex flex-col gap-1">
          {t('token')}
          <input name="token" type="password" autoComplete="current-password" required aria-invalid={error !== null} aria-describedby="token-error" className="min-h-9 rounded-sm border border-control bg-bg px-2.5" />
        </label>
        <p id="token-error" role="alert" className="text-critical empty:hidden">{error}</p>
        <Button type="submit" look="primary">{t('signIn')}</Button>
      </form>
    </main>
  );
}
