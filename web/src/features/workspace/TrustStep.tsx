import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '@/components/Button';
import { Loaded } from '@/components/Loaded';
import { Modal } from '@/components/Modal';
import { useText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { settingsApi } from '@/lib/api/settings';
import type { Trust, TrustItem, Workspace } from '@/lib/api/types';
import { closeDialog } from '@/lib/dialogs';
import { toast, toastError } from '@/lib/toast';
import { useTrust, useWorkspaces } from '@/lib/workspaces';
import { ServerChange, TrustItems } from './TrustItems';

const FILE = '.planwright/config.toml';
/** Of a server that is not what was accepted. It has a hash of its own; everything else stands in the file. */
const isChange = (item: TrustItem) => item.kind === 'mcp_change';

/** Lists what waits for the user's word in a workspace, and accepts exactly that. */
export function TrustStep({ isOpen, workspaceId }: { isOpen: boolean; workspaceId: string }) {
  const t = useText('workspace');
  const workspace = useWorkspaces().data?.find((one) => one.id === workspaceId);
  const server = useText('trust');
  const trust = useTrust(workspaceId);
  const isOfServers = trust.data?.file_trusted === true && !trust.data.trusted;
  if (!workspace) return null;
  return (
    <Modal isOpen={isOpen} close={closeDialog} title={isOfServers ? server('changedTitle') : t('trustTitle', { workspace: workspace.name })} isRead>
      <Loaded query={trust}>{(found) => <Wants workspace={workspace} trust={found} />}</Loaded>
    </Modal>
  );
}

function Wants({ workspace, trust }: { workspace: Workspace; trust: Trust }) {
  const t = useText('workspace');
  const items = trust.items.filter((item) => !isChange(item));
  const changes = trust.items.filter(isChange);
  const [hasChanged, setChanged] = useState(false);
  const decide = { workspace, changed: () => setChanged(true) };
  return (
    <div className="flex flex-col gap-3">
      {hasChanged && <p role="alert" className="rounded-md bg-major-soft px-3 py-2">{t('changed')}</p>}
      {changes.length > 0 && <ChangedServers changes={changes} {...decide} />}
      {(trust.sha256 !== null || changes.length === 0) && <p className="text-muted">{t('trustHint', { file: FILE })}</p>}
      {items.length > 0 && <TrustItems items={items} />}
      {trust.items.length === 0 && <p>{t('trustNothing')}</p>}
      {trust.warnings.length > 0 && (
        <div>
          <h3 className="mb-1 font-medium">{t('warnings')}</h3>
          <ul className="list-disc pl-5 text-muted">{trust.warnings.map((warning) => <li key={warning} className="break-words">{warning}</li>)}</ul>
        </div>
      )}
      {items.length > 0 && !trust.file_trusted && <FileDecision sha256={trust.sha256 ?? ''} {...decide} />}
    </div>
  );
}

interface DecisionProps {
  workspace: Workspace;
  /** Called when it is something else by now. */
  changed: () => void;
}

/** Accepts what was looked at, by its hash. */
function useAccept({ workspace, changed }: DecisionProps, said: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (sha256: string) => settingsApi.acceptTrust(workspace.id, sha256),
    onSuccess: (accepted) => {
      queries.setQueryData(['trust', workspace.id], accepted);
      for (const name of ['rules', 'servers']) void queries.invalidateQueries({ queryKey: [name, workspace.id] });
      toast(said);
      if (accepted.trusted) closeDialog();
    },
    onError: (reason) => {
      if (!(reason instanceof ApiError) || reason.status !== 409) return toastError(reason);
      changed();
      void queries.invalidateQueries({ queryKey: ['trust', workspace.id] });
    },
  });
}

function FileDecision({ sha256, ...decide }: DecisionProps & { sha256: string }) {
  const t = useText('workspace');
  const accept = useAccept(decide, t('accepted', { workspace: decide.workspace.name }));
  if (decide.workspace.right !== 'owner') return <p className="text-muted">{t('ownersOnly')}</p>;
  return (
    <>
      <p className="text-sm text-muted">{t('byContent')}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={closeDialog}>{t('notNow')}</Button>
        <Button look="primary" onClick={() => accept.mutate(sha256)} disabled={accept.isPending}>{accept.isPending ? t('accepting') : t('accept')}</Button>
      </div>
    </>
  );
}

function ChangedServers({ changes, ...decide }: DecisionProps & { changes: TrustItem[] }) {
  const t = useText('trust');
  const common = useText('workspace');
  return (
    <div className="flex flex-col gap-2">
      <h3 className="font-medium">{t('changedServers')}</h3>
      <p className="text-muted">{t('changedServersHint')}</p>
      {changes.map((item) => <ChangedServer key={item.key} item={item} {...decide} />)}
      {decide.workspace.right !== 'owner' && <p className="text-muted">{common('ownersOnly')}</p>}
    </div>
  );
}

function ChangedServer({ item, ...decide }: DecisionProps & { item: TrustItem }) {
  const t = useText('trust');
  const server = item.key.replace('mcp.servers.', '');
  const accept = useAccept(decide, t('acceptedServer', { server }));
  const accepted = item.sha256;
  return (
    <section aria-label={t('changedServer', { server })} className="flex flex-col gap-2 border-t py-2">
      <p className="text-sm text-muted">{t('changedServer', { server })}</p>
      <ServerChange item={item} />
      {decide.workspace.right === 'owner' && accepted && (
        <div className="flex justify-end"><Button onClick={() => accept.mutate(accepted)} disabled={accept.isPending}>{t('acceptServer', { server })}</Button></div>
      )}
    </section>
  );
}
