import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { UserMinus, UserPlus } from 'lucide-react';
import { useId, useState, type FormEvent } from 'react';
import { Button } from '@/components/Button';
import { Select, TextInput } from '@/components/form';
import { IconButton } from '@/components/IconButton';
import { Loaded } from '@/components/Loaded';
import { useText } from '@/i18n';
import { settingsApi } from '@/lib/api/settings';
import type { Member, Right, Workspace } from '@/lib/api/types';
import { toastError } from '@/lib/toast';
import { useMe } from '@/lib/workspaces';
import { useProblemLine } from '@/lib/problems';

/** Who may do what in a workspace, in a team. */
export function Members({ workspace }: { workspace: Workspace }) {
  const t = useText('settings');
  const id = useId();
  const members = useQuery({ queryKey: ['members', workspace.id], queryFn: () => settingsApi.members(workspace.id) });
  return (
    <section aria-labelledby={id} className="border-t px-3 py-2">
      <h4 id={id} className="text-sm font-medium text-muted">{t('members')}</h4>
      <Loaded query={members}>
        {(all) => (
          <>
            {all.length === 0 && <p className="text-muted">{t('noMembers')}</p>}
            <ul>{all.map((one) => <MemberRow key={one.user_id} workspace={workspace} member={one} />)}</ul>
          </>
        )}
      </Loaded>
      {workspace.right === 'owner' && <AddMember workspace={workspace} />}
    </section>
  );
}

function useRights(): [Right, string][] {
  const t = useText('settings');
  return [['viewer', t('viewer')], ['member', t('member')], ['owner', t('owner')]];
}

function usePutMember(workspace: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ name, role }: { name: string; role: Right }) => settingsApi.putMember(workspace, name, role),
    // One's own right may be another now.
    onSuccess: () => Promise.all([queries.invalidateQueries({ queryKey: ['members', workspace] }), queries.invalidateQueries({ queryKey: ['workspaces'] })]),
  });
}

function MemberRow({ workspace, member }: { workspace: Workspace; member: Member }) {
  const t = useText('settings');
  const me = useMe();
  const rights = useRights();
  const queries = useQueryClient();
  const put = usePutMember(workspace.id);
  const remove = useMutation({
    mutationFn: () => settingsApi.removeMember(workspace.id, member.name),
    onSuccess: () => Promise.all([queries.invalidateQueries({ queryKey: ['members', workspace.id] }), queries.invalidateQueries({ queryKey: ['workspaces'] })]),
    onError: toastError,
  });
  const isOwner = workspace.right === 'owner';
  return (
    <li className="flex items-center gap-2 py-1">
      <span className="min-w-0 flex-1 truncate">{member.name}{member.user_id === me.data?.user.id && <span className="text-muted"> ({t('you')})</span>}</span>
      {isOwner ? (
        <>
          <Select label={t('roleOf', { name: member.name })} isLabelHidden value={member.role} options={rights} disabled={put.isPending} choose={(role) => put.mutate({ name: member.name, role }, { onError: toastError })} />
          <IconButton label={t('removeMember', { name: member.name })} disabled={remove.isPending} onClick={() => remove.mutate()}><UserMinus size={15} aria-hidden /></IconButton>
        </>
      ) : (
        <span className="text-muted">{t(member.role)}</span>
      )}
    </li>
  );
}

function AddMember({ workspace }: { workspace: Workspace }) {
  const t = useText('settings');
  const lineOf = useProblemLine();
  const rights = useRights();
  const put = usePutMember(workspace.id);
  const [name, setName] = useState('');
  const [role, setRole] = useState<Right>('viewer');
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim()) put.mutate({ name: name.trim(), role }, { onSuccess: () => setName('') });
  };
  return (
    <form onSubmit={onSubmit} className="mt-1 flex flex-wrap items-end gap-2">
      <TextInput label={t('memberName')} value={name} onChange={(event) => setName(event.target.value)} error={lineOf(put.error)} autoComplete="off" className="flex-1" />
      <Select label={t('memberRole')} value={role} options={rights} choose={setRole} />
      <Button type="submit" className="min-h-9" disabled={name.trim() === '' || put.isPending}><UserPlus size={15} aria-hidden />{t('addMember')}</Button>
    </form>
  );
}
