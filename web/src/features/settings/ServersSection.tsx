import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleCheck, CircleDashed, CircleX, PlugZap, ShieldAlert, type LucideIcon } from 'lucide-react';
import { Button } from '@/components/Button';
import { CommandText } from '@/components/CommandText';
import { Loaded } from '@/components/Loaded';
import { useText } from '@/i18n';
import { settingsApi } from '@/lib/api/settings';
import type { McpServer, Workspace } from '@/lib/api/types';
import { commandLine } from '@/lib/commandLine';
import { showDialog } from '@/lib/dialogs';
import { toastError } from '@/lib/toast';
import { Section } from './Section';
import { useModelSources } from './useModelSources';
import { useWorkspaceChoice } from './useWorkspaceChoice';

const SAMPLE = '[mcp.servers.files]\ncommand = "npx"\nargs = ["-y", "@modelcontextprotocol/server-filesystem", "."]\nnetwork = true\ntrust_read_only = true';
const LOOKS: Record<McpServer['status'], [LucideIcon, string]> = {
  idle: [CircleDashed, 'text-muted'],
  ready: [CircleCheck, 'text-act'],
  failed: [CircleX, 'text-critical'],
  untrusted: [ShieldAlert, 'text-major'],
};

/** The MCP servers of a workspace: what is run, whether it works, what it offers. */
export function ServersSection() {
  const t = useText('settings');
  const { workspace, choice, query } = useWorkspaceChoice();
  const sources = useModelSources();
  return (
    <Section title={t('servers')} hint={t('serversHint', { file: sources.data?.config_file ?? t('yourFile') })}>
      <Loaded query={query}>{() => choice}</Loaded>
      {workspace && <OfWorkspace key={workspace.id} workspace={workspace} />}
    </Section>
  );
}

function OfWorkspace({ workspace }: { workspace: Workspace }) {
  const t = useText('settings');
  const queries = useQueryClient();
  const servers = useQuery({ queryKey: ['servers', workspace.id], queryFn: () => settingsApi.servers(workspace.id) });
  const check = useMutation({
    mutationFn: () => settingsApi.checkServers(workspace.id),
    onSuccess: (found) => {
      queries.setQueryData(['servers', workspace.id], found);
      void queries.invalidateQueries({ queryKey: ['trust', workspace.id] });
    },
    onError: toastError,
  });
  const isViewer = workspace.right === 'viewer';
  return (
    <Loaded query={servers}>
      {(all) => (all.length === 0 ? <><p className="text-muted">{t('noServers')}</p><CommandText text={SAMPLE} /></> : (
        <>
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Button onClick={() => check.mutate()} disabled={isViewer || check.isPending}><PlugZap size={14} aria-hidden />{check.isPending ? t('checkingServers') : t('checkServers')}</Button>
            <span className="text-sm text-muted">{t('checkServersHint')}</span>
          </div>
          <ul aria-live="polite" className="flex flex-col gap-3">{all.map((server) => <Server key={server.name} server={server} workspace={workspace} />)}</ul>
        </>
      ))}
    </Loaded>
  );
}

function Server({ server, workspace }: { server: McpServer; workspace: Workspace }) {
  const t = useText('settings');
  const [Icon, colour] = server.changed ? [ShieldAlert, 'text-major'] as const : LOOKS[server.status];
  const waits = server.changed !== null || server.status === 'untrusted';
  return (
    <li className="flex flex-col gap-1 border-t py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 className="font-medium">{server.name}</h3>
        <span className="text-sm text-muted">{server.origin === 'user' ? t('ofUser') : t('ofFolder')}</span>
        <span className={`ml-auto flex items-center gap-1.5 ${colour}`}><Icon size={15} aria-hidden />{server.changed ? t('serverChanged') : t(`server_${server.status}`)}</span>
        {waits && <Button onClick={() => showDialog({ kind: 'trust', workspace: workspace.id })} aria-label={`${t('lookAtServer')}: ${server.name}`}>{t('lookAtServer')}</Button>}
      </div>
      <code className="break-all">{server.command ? commandLine(server.command) : server.url}</code>
      {server.error && !server.changed && <p className="break-words text-muted">{server.error}</p>}
      <p className="text-sm text-muted">{server.trust_read_only ? t('wordTaken') : t('wordNotTaken')}</p>
      {server.tools.length > 0 && <Tools tools={server.tools} />}
    </li>
  );
}

function Tools({ tools }: { tools: McpServer['tools'] }) {
  const t = useText('settings');
  return (
    <details>
      <summary className="cursor-pointer">{t('serverTools', { count: tools.length })}</summary>
      <ul className="mt-1 divide-y divide-line">
        {tools.map((tool) => (
          <li key={tool.name} className="py-1.5">
            <p className="flex flex-wrap items-baseline gap-2"><code className="font-medium break-all">{tool.name}</code><span className="text-sm text-muted">{tool.read_only ? t('toolReads') : t('toolAsks')}</span></p>
            <p className="text-sm break-words text-muted">{tool.description}</p>
          </li>
        ))}
      </ul>
    </details>
  );
}
