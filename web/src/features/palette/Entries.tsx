import { Command } from 'cmdk';
import { useQueries } from '@tanstack/react-query';
import { FileText, MessageSquare, Plus, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import type { Workspace } from '@/lib/api/types';
import { useCommands } from '@/lib/commands';
import { closeDialog } from '@/lib/dialogs';
import { useFiles } from '@/lib/files';
import { rememberWorkspace } from '@/lib/lastWorkspace';
import { openFile } from '@/lib/layout';
import { toastError } from '@/lib/toast';
import { useWorkspaces } from '@/lib/workspaces';
import { shownName } from '@/lib/marks';
import { useTitleOf } from '@/lib/title';
import { Said } from './Said';

const MOST_CHATS = 50;
const MOST_FILES = 8;

/** Does it, and the palette is gone: first the palette, so that the focus goes where the deed wants it. */
const doIt = (deed: () => void) => () => {
  closeDialog();
  deed();
};

export function Entries({ typed }: { typed: string }) {
  const t = useText('palette');
  const titleOf = useTitleOf();
  const [location, navigate] = useLocation();
  const commands = useCommands();
  const workspaces = useWorkspaces().data ?? [];
  const open = workspaces.filter(({ right }) => right !== 'viewer');
  const lists = useQueries({ queries: workspaces.map(({ id }) => ({ queryKey: ['chats', id], queryFn: () => api.chats(id) })) });
  const chats = lists.flatMap((list) => list.data ?? []).toSorted((a, b) => b.updated_at.localeCompare(a.updated_at)).slice(0, typed ? undefined : MOST_CHATS);
  const [, here = null, chat] = /^\/w\/([^/]+)\/c\/([^/]+)/.exec(location) ?? [];
  const files = useFiles(typed === '' || !chat ? null : here, typed, MOST_FILES);
  const begin = (workspace: Workspace) => {
    rememberWorkspace(workspace);
    void api.createChat(workspace.id).then((made) => navigate(`/w/${workspace.id}/c/${made.id}`), toastError);
  };
  return (
    <>
      <Command.Empty className="p-4 text-center text-muted">{t('nothing')}</Command.Empty>
      <Group heading={t('commands')}>
        {commands.filter(({ needsWords }) => !needsWords).map(({ name, label, icon, keys, run }) => <Entry key={name} value={`command ${name}`} keywords={[label, name]} icon={icon} text={label} note={keys ?? `/${name}`} choose={() => run('')} />)}
      </Group>
      <Group heading={t('chats')}>
        {chats.map((one) => <Entry key={one.id} value={`chat ${one.id}`} keywords={[one.title]} icon={MessageSquare} text={titleOf(one)} note={workspaces.find(({ id }) => id === one.workspace_id)?.name} choose={() => navigate(`/w/${one.workspace_id}/c/${one.id}`)} />)}
      </Group>
      {here && files.data && files.data.length > 0 && (
        <Group heading={t('files')}>
          {files.data.map((path) => <Entry key={path} value={`file ${path}`} keywords={[typed, path]} icon={FileText} text={shownName(path)} choose={() => openFile(here, path)} />)}
        </Group>
      )}
      {workspaces.length > 1 && open.length > 0 && (
        <Group heading={t('newIn')}>
          {open.map((one) => <Entry key={one.id} value={`new ${one.id}`} keywords={[one.name]} icon={Plus} text={t('newInWorkspace', { workspace: one.name })} choose={() => begin(one)} />)}
        </Group>
      )}
      <Said typed={typed} />
    </>
  );
}

export function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return <Command.Group heading={heading} className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted">{children}</Command.Group>;
}

export function Entry({ value, keywords, icon: Icon, text, note, choose }: { value: string; keywords: string[]; icon: LucideIcon; text: string; note?: string | undefined; choose: () => void }) {
  return (
    <Command.Item value={value} keywords={keywords} onSelect={doIt(choose)} className="flex min-h-9 cursor-pointer items-center gap-2 rounded-sm px-2 data-[selected=true]:bg-sunken pointer-coarse:min-h-11">
      <Icon size={15} aria-hidden className="shrink-0 text-muted" />
      <span className="min-w-0 flex-1 truncate">{text}</span>
      {note && <span className="max-w-40 shrink-0 truncate text-xs text-muted">{note}</span>}
    </Command.Item>
  );
}
