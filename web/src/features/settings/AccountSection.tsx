import { useQueryClient } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { Button } from '@/components/Button';
import { Loaded } from '@/components/Loaded';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import { toastError } from '@/lib/toast';
import { useMe } from '@/lib/workspaces';
import { Accounts } from './Accounts';
import { ChangePassword } from './ChangePassword';
import { Section } from './Section';
import { Tokens } from './Tokens';

/** Who is signed in, with their password and tokens; for admins, everybody else's accounts. */
export function AccountSection() {
  const t = useText('settings');
  const me = useMe();
  const queries = useQueryClient();
  const signOut = () => void api.logout().then(() => queries.resetQueries(), toastError);
  return (
    <Loaded query={me}>
      {({ auth, user, version }) => (
        <>
          <Section title={t('account')}>
            <div className="flex flex-wrap items-center gap-3 border-y py-2">
              <p className="min-w-0 flex-1">
                {auth === 'users' ? t('signedInAs', { name: user.name }) : auth === 'token' ? t('byToken') : t('open')}
                {auth === 'users' && user.admin && <span className="ml-2 rounded-full bg-surface px-2 text-xs font-semibold text-muted">{t('admin')}</span>}
              </p>
              {auth !== 'off' && <Button onClick={signOut}><LogOut size={15} aria-hidden />{t('signOut')}</Button>}
            </div>
            {auth === 'users' && <ChangePassword />}
            <p className="text-sm text-muted">{t('version', { version })}</p>
          </Section>
          {auth === 'users' && user.admin && <Section title={t('accounts')} hint={t('accountsHint')}><Accounts own={user.id} /></Section>}
          <Section title={t('tokens')} hint={auth === 'off' ? t('tokensOff') : t('tokensHint')}>{auth !== 'off' && <Tokens />}</Section>
        </>
      )}
    </Loaded>
  );
}
