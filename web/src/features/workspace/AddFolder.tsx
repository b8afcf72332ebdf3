import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Button } from '@/components/Button';
import { TextInput } from '@/components/form';
import { Modal } from '@/components/Modal';
import { useText } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { settingsApi } from '@/lib/api/settings';
import type { Workspace } from '@/lib/api/types';
import { closeDialog, showDialog } from '@/lib/dialogs';
import { rememberWorkspace } from '@/lib/lastWorkspace';
import { toast } from '@/lib/toast';
import { learnWorkspace } from '@/lib/workspaces';
import { useProblemLine } from '@/lib/problems';

/** A folder becomes a workspace; if it brings a configuration along, the trust step follows. */
export function AddFolder({ isOpen }: { isOpen: boolean }) {
  const t = useText('workspace');
  return <Modal isOpen={isOpen} close={closeDialog} title={t('addTitle')}><Form /></Modal>;
}

function Form() {
  const t = useText('workspace');
  const lineOf = useProblemLine();
  const queries = useQueryClient();
  const [path, setPath] = useState('');
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: async () => {
      const workspace = await settingsApi.addWorkspace(path.trim(), name.trim() || undefined);
      const trust = await queries.fetchQuery({ queryKey: ['trust', workspace.id], queryFn: () => settingsApi.trust(workspace.id), staleTime: 0 }).catch(() => null);
      return { workspace, trust };
    },
    onSuccess: ({ workspace, trust }) => {
      const isKnown = queries.getQueryData<Workspace[]>(['workspaces'])?.some(({ id }) => id === workspace.id);
      learnWorkspace(queries, workspace);
      rememberWorkspace(workspace);
      toast(isKnown ? t('addedBefore', { workspace: workspace.name }) : t('added', { workspace: workspace.name }));
      if (trust === null || trust.items.length > 0 || trust.warnings.length > 0) showDialog({ kind: 'trust', workspace: workspace.id });
      else closeDialog();
    },
  });
  const field = (of: 'path' | 'name') => (add.error instanceof ApiError ? (add.error.problem.details?.fields?.[of] ?? null) : null);
  const other = add.error && !field('path') && !field('name') ? lineOf(add.error) : null;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-3">
      <p className="text-muted">{t('addHint')}</p>
      <TextInput label={t('path')} hint={t('pathHint')} error={field('path') ?? other} value={path} onChange={(event) => setPath(event.target.value)} required autoComplete="off" spellCheck={false} />
      <TextInput label={t('name')} hint={t('nameHint')} error={field('name')} value={name} onChange={(event) => setName(event.target.value)} maxLength={200} autoComplete="off" />
      <div className="flex justify-end"><Button type="submit" look="primary" disabled={path.trim() === '' || add.isPending}>{add.isPending ? t('adding') : t('add')}</Button></div>
    </form>
  );
}
