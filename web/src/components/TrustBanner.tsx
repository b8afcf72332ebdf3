import { ShieldAlert } from 'lucide-react';
import { useText } from '@/i18n';
import { showDialog } from '@/lib/dialogs';
import { useTrust } from '@/lib/workspaces';
import { Button } from './Button';

/** A folder's own configuration that nobody has said a word about, or that is broken; or an MCP server that has changed. */
export function TrustBanner({ workspaceId }: { workspaceId: string }) {
  const t = useText('workspace');
  const trust = useTrust(workspaceId);
  if (!trust.data || trust.data.trusted) return null;
  return (
    <div className="flex items-center gap-3 bg-major-soft px-4 py-1.5">
      <ShieldAlert size={16} aria-hidden className="shrink-0 text-major" />
      <span className="min-w-0 flex-1">{trust.data.file_trusted ? t('bannerServers') : t('banner')}</span>
      <Button onClick={() => showDialog({ kind: 'trust', workspace: workspaceId })}>{t('look')}</Button>
    </div>
  );
}
