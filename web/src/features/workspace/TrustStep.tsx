import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '@/components/Button';
import { Loaded } from '@/components/Loaded';
import { Modal } from '@/components/Modal';
import { useText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { settingsApi } from '@/lib/api/settings';
import type { Trust, Workspace } from '@/lib/api/types';
import { closeDialog } from '@/lib/dialogs';
import { toast, toastError } from '@/lib/toast';
import { useTrust, useWorkspaces } from '@/lib/workspaces';

const FILE = '.planwright/config.toml';
const KINDS = { model: 'kind_model', provider: 'kind_provider', mcp: 'kind_mcp' } as const;

/** Lists what of a folder's own configuration would apply or run, and accepts exactly that. */
export function TrustStep({ isOpen, workspaceId }: { isOpen: boolean; workspaceId: string }) {
  const t = useText('workspace');
  const workspace = useWorkspaces().data?.find((one) => one.id === workspaceId);
  const trust = useTrust(workspaceId);
  if (!workspace) return null;
  return (
    <Modal isOpen={isOpen} close={closeDialog} title={t('trustTitle', { workspace: workspace.name })}>
      <p className="mb-3 text-muted">{t('trustHint', { file: FILE })}</p>
      <Loaded query={trust}>{(found) => <Wants workspace={workspace} trust={found} />}</Loaded>
    </Modal>
  );
}

function Wants({ workspace, trust }: { workspace: Workspace; trust: Trust }) {
  const t = useText('workspace');
  const needsWord = trust.items.length > 0 && !trust.trusted;
  return (
    <div className="flex flex-col gap-3">
      {trust.items.length === 0 ? <p>{t('trustNothing')}</p> : (
        <div>
          <h3 className="mb-1 font-medium">{t('trustItems')}</h3>
          <ul className="divide-y divide-line rounded-md border">
            {trust.items.map((item) => (
              <li key={`${item.line} ${item.key}`} className="px-3 py-2">
                <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-muted"><span>{t(KINDS[item.kind as keyof typeof KINDS] ?? 'kind_setting')}</span><span className="ml-auto">{t('line', { line: item.line })}</span></p>
                <code className="break-all">{item.key} = {typeof item.value === 'string' ? item.value : JSON.stringify(item.value)}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      {trust.warnings.length > 0 && (
        <div>
          <h3 className="mb-1 font-medium">{t('warnings')}</h3>
          <ul className="list-disc pl-5 text-muted">{trust.warnings.map((warning) => <li key={warning} className="break-words">{warning}</li>)}</ul>
        </div>
      )}
      {needsWord && <Decision workspace={workspace} trust={trust} />}
    </div>
  );
}

function Decision({ workspace, trust }: { workspace: Workspace; trust: Trust }) {
  const t = useText('workspace');
  const queries = useQueryClient();
  const [hasChanged, setChanged] = useState(false);
  const accept = useMutation({
    mutationFn: () => settingsApi.acceptTrust(workspace.id, trust.sha256 ?? ''),
    onSuccess: (accepted) => {
      queries.setQueryData(['trust', workspace.id], accepted);
      void queries.invalidateQueries({ queryKey: ['rules', workspace.id] });
      toast(t('accepted', { workspace: workspace.name }));
      closeDialog();
    },
    onError: (reason) => {
      if (!(reason instanceof ApiError) || reason.status !== 409) return toastError(reason);
      setChanged(true);
      void queries.invalidateQueries({ queryKey: ['trust', workspace.id] });
    },
  });
  if (workspace.right !== 'owner') return <p className="text-muted">{t('ownersOnly')}</p>;
  return (
    <>
      {hasChanged && <p role="alert" className="rounded-md border border-major bg-major-soft px-3 py-2 text-major">{t('changed')}</p>}
      <p className="text-sm text-muted">{t('byContent')}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={closeDialog}>{t('notNow')}</Button>
        <Button look="primary" onClick={() => accept.mutate()} disabled={accept.isPending}>{accept.isPending ? t('accepting') : t('accept')}</Button>
      </div>
    </>
  );
}
