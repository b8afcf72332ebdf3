import { useMutation, useQueryClient } from '@tanstack/react-query';
import { FolderPlus, ShieldAlert, ShieldCheck } from 'lucide-react';
import { useRef, useState, type FormEvent } from 'react';
import { Button } from '@/components/Button';
import { TextInput } from '@/components/form';
import { Loaded } from '@/components/Loaded';
import { Confirm, Modal } from '@/components/Modal';
import { useText } from '@/i18n';
import { settingsApi } from '@/lib/api/settings';
import type { Workspace } from '@/lib/api/types';
import { showDialog } from '@/lib/dialogs';
import { toast, toastError } from '@/lib/toast';
import { learnWorkspace, useAddsFolders, useMe, useTrust, useWorkspaces } from '@/lib/workspaces';
import { useProblemLine } from '@/lib/problems';
import { Members } from './Members';
import { Section } from './Section';

/** The folders: added, named, trusted, shared, forgotten. */
export function WorkspacesSection() {
  const t = useText('settings');
  const workspaces = useWorkspaces();
  const addsFolders = useAddsFolders();
  return (
    <Section title={t('workspaces')} hint={t('workspacesHint')}>
      {addsFolders && <div><Button look="primary" onClick={() => showDialog({ kind: 'add-folder' })}><FolderPlus size={15} aria-hidden />{t('addFolder')}</Button></div>}
      <Loaded query={workspaces}>
        {(all) => (all.length === 0 ? <p className="text-muted">{t(addsFolders ? 'noWorkspace' : 'notInvited')}</p> : <ul className="flex flex-col gap-3">{all.map((one) => <Row key={one.id} workspace={one} />)}</ul>)}
      </Loaded>
    </Section>
  );
}

function Row({ workspace }: { workspace: Workspace }) {
  const t = useText('settings');
  const me = useMe();
  const [open, setOpen] = useState<'rename' | 'forget' | null>(null);
  const isOwner = workspace.right === 'owner';
  return (
    <li className="border-t">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
        <div className="min-w-40 flex-1">
          <h3 title={workspace.name} className="truncate font-medium">{workspace.name}</h3>
          <p title={workspace.path} className="truncate font-mono text-xs text-muted">{workspace.path}</p>
        </div>
        {me.data?.auth === 'users' && <span className="text-sm text-muted">{t(`right_${workspace.right}`)}</span>}
        <TrustMark workspace={workspace} />
        {isOwner && (
          <>
            <Button onClick={() => setOpen('rename')} aria-label={`${t('rename')}: ${workspace.name}`}>{t('rename')}</Button>
            <Button onClick={() => setOpen('forget')} aria-label={`${t('forget')}: ${workspace.name}`} className="text-critical">{t('forget')}</Button>
          </>
        )}
      </div>
      {me.data?.auth === 'users' && <Members workspace={workspace} />}
      <Rename workspace={workspace} isOpen={open === 'rename'} close={() => setOpen(null)} />
      <Forget workspace={workspace} isOpen={open === 'forget'} close={() => setOpen(null)} />
    </li>
  );
}

/** Whether something waits for the user's word: the folder's own configuration, or a server. Nothing where there is none. */
function TrustMark({ workspace }: { workspace: Workspace }) {
  const t = useText('workspace');
  const lineOf = useProblemLine();
  const trust = useTrust(workspace.id);
  if (trust.error) return <span className="max-w-80 text-sm text-critical">{lineOf(trust.error)}</span>;
  if (!trust.data?.sha256 && trust.data?.trusted !== false) return null;
  const isTrusted = trust.data.trusted;
  return (
    <Button look="quiet" onClick={() => showDialog({ kind: 'trust', workspace: workspace.id })} className={isTrusted ? '' : 'text-major'}>
      {isTrusted ? <ShieldCheck size={15} aria-hidden /> : <ShieldAlert size={15} aria-hidden />}
      {isTrusted ? t('trusted') : t('notTrusted')}
    </Button>
  );
}

interface DialogProps {
  workspace: Workspace;
  isOpen: boolean;
  close: () => void;
}

function Rename({ workspace, isOpen, close }: DialogProps) {
  const t = useText('settings');
  const queries = useQueryClient();
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    if (!name) return;
    settingsApi.changeWorkspace(workspace.id, { name }).then((changed) => {
      learnWorkspace(queries, changed);
      close();
    }, toastError);
  };
  return (
    <Modal isOpen={isOpen} close={close} title={t('renameTitle')}>
      <form onSubmit={onSubmit} className="flex items-end gap-2">
        <TextInput name="name" label={t('name')} defaultValue={workspace.name} maxLength={200} required className="flex-1" />
        <Button type="submit" look="primary">{t('save')}</Button>
      </form>
    </Modal>
  );
}

function Forget({ workspace, isOpen, close }: DialogProps) {
  const t = useText('settings');
  const common = useText('common');
  const safe = useRef<HTMLButtonElement>(null);
  const queries = useQueryClient();
  const forget = useMutation({
    mutationFn: () => settingsApi.forgetWorkspace(workspace.id),
    onSuccess: () => {
      close();
      queries.setQueryData<Workspace[]>(['workspaces'], (all = []) => all.filter((one) => one.id !== workspace.id));
      queries.removeQueries({ queryKey: ['chats', workspace.id] });
      toast(t('forgotten', { workspace: workspace.name }));
    },
    onError: toastError,
  });
  return (
    <Confirm isOpen={isOpen} close={close} title={t('forgetTitle', { workspace: workspace.name })} hint={t('forgetHint', { path: workspace.path })} safe={safe}>
      <Button ref={safe} onClick={close}>{common('cancel')}</Button>
      <Button look="danger" onClick={() => forget.mutate()} disabled={forget.isPending}>{t('forgetConfirm')}</Button>
    </Confirm>
  );
}
