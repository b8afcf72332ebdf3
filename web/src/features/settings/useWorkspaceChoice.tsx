import { useState, type ReactNode } from 'react';
import { Select } from '@/components/form';
import { useText } from '@/i18n';
import type { Workspace } from '@/lib/api/types';
import { useWorkspaces } from '@/lib/workspaces';

/** The workspace that a section is about; a choice where there are several. */
export function useWorkspaceChoice(): { workspace: Workspace | undefined; choice: ReactNode; query: ReturnType<typeof useWorkspaces> } {
  const t = useText('settings');
  const query = useWorkspaces();
  const [chosen, choose] = useState<string | null>(null);
  const all = query.data ?? [];
  const workspace = all.find((one) => one.id === chosen) ?? all[0];
  const choice = all.length > 1 && workspace && (
    <Select label={t('workspace')} value={workspace.id} options={all.map(({ id, name, path }) => [id, `${name} (${path})`] as const)} choose={choose} />
  );
  return { workspace, choice, query };
}
