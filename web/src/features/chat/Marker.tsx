import { ArrowRight, FileWarning, Info, Plug, RotateCcw, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { FileLink } from '@/components/FileLink';
import { RoleLabel } from '@/components/RoleLabel';
import { useLocale, useText } from '@/i18n';
import type { Message, RoleName, SwitchedBy } from '@/lib/api/types';
import { type DriftedFile, isDrifted } from '@/lib/chat/drift';
import { clock } from '@/lib/time';
import { shownName } from '@/lib/marks';

interface ModeChange {
  from: RoleName;
  to: RoleName;
  by: SwitchedBy;
}

/** What happened to the chat itself: a switch of mode or role, a compaction, files taken back. */
export function Marker({ message }: { message: Message }) {
  const change = message.metadata.mode_change as ModeChange | undefined;
  if (change) return <ModeMarker change={change} message={message} />;
  const { drift } = message.metadata;
  if (Array.isArray(drift)) return <DriftMarker files={drift.filter(isDrifted)} at={message.created_at} />;
  if (message.metadata.retry === true) return <RetryMarker at={message.created_at} />;
  if (message.metadata.revert) return <RevertMarker facts={message.metadata.revert} at={message.created_at} />;
  const { mcp_server } = message.metadata;
  if (typeof mcp_server === 'string') return <ServerMarker server={mcp_server} trouble={String(message.metadata.mcp_trouble)} at={message.created_at} />;
  return (
    <Line at={message.created_at}>
      <Info size={14} aria-hidden className="shrink-0" />
      <span className="min-w-0 break-words whitespace-pre-wrap">{message.content}</span>
    </Line>
  );
}

function RetryMarker({ at }: { at: string }) {
  const t = useText('chat');
  return <Line at={at}><RotateCcw size={14} aria-hidden className="shrink-0" /><span>{t('triedAgain')}</span></Line>;
}

interface RevertFacts {
  files?: { path: string }[];
  conflicts?: { path: string; reason: string }[];
}

/** The message's own words are for the model. */
function RevertMarker({ facts, at }: { facts: RevertFacts; at: string }) {
  const t = useText('chat');
  const common = useText('common');
  return (
    <Line at={at}>
      <Undo2 size={14} aria-hidden className="shrink-0" />
      <span>{t('tookBackFiles')}</span>
      {facts.files?.map((file) => <code key={file.path} className="break-all">{file.path}</code>)}
      {facts.conflicts && facts.conflicts.length > 0 && <span>{t('leftFiles')}</span>}
      {facts.conflicts?.map((file) => <span key={file.path} className="break-all"><code>{shownName(file.path)}</code>{common('aside', { text: file.reason })}</span>)}
    </Line>
  );
}

/** An MCP server that can't be used, or not all of it. */
function ServerMarker({ server, trouble, at }: { server: string; trouble: string; at: string }) {
  const t = useText('chat');
  const words = trouble === 'changed' ? t('serverChanged', { server }) : trouble === 'untrusted' ? t('serverUntrusted', { server }) : t('serverFailed', { server });
  return (
    <Line at={at}>
      <Plug size={14} aria-hidden className="shrink-0 text-major" />
      <span className="min-w-0 break-words">{words}</span>
      <Link href="/settings/servers" className="underline underline-offset-2">{t('serverLook')}</Link>
    </Line>
  );
}

/** The message's own words are for the model. */
function DriftMarker({ files, at }: { files: DriftedFile[]; at: string }) {
  const t = useText('plan');
  const common = useText('common');
  const words = { new: t('driftNew'), changed: t('driftChanged'), deleted: t('driftDeleted') };
  return (
    <Line at={at}>
      <FileWarning size={14} aria-hidden className="shrink-0 text-major" />
      <span>{t('driftTitle')}{common('colon')}</span>
      {files.map((file) => <span key={file.path} className="wrap-anywhere"><code>{file.change === 'deleted' ? shownName(file.path) : <FileLink place={{ path: file.path, line: null }}>{shownName(file.path)}</FileLink>}</code>{common('aside', { text: words[file.change] ?? file.change })}</span>)}
    </Line>
  );
}

function ModeMarker({ change, message }: { change: ModeChange; message: Message }) {
  const t = useText('chat');
  const approval = message.metadata.approval as { revision: number } | undefined;
  const by: Record<SwitchedBy, string> = {
    user: t('byUser'),
    intent: t('byIntent'),
    approval: approval ? t('byApproval', { revision: approval.revision }) : t('byUser'),
    auto: t('byAuto'),
  };
  return (
    <Line at={message.created_at}>
      <RoleLabel role={change.from} size={14} />
      <ArrowRight size={14} aria-label={t('switchedTo')} />
      <RoleLabel role={change.to} size={14} className="font-medium" />
      <span>{by[change.by]}</span>
    </Line>
  );
}

function Line({ at, children }: { at: string; children: ReactNode }) {
  const locale = useLocale((state) => state.locale);
  return (
    <div role="note" className="flex justify-center py-1 text-xs text-muted">
      <span className="flex max-w-full flex-wrap items-center justify-center gap-1.5">
        {children}
        <time dateTime={at}>{clock(locale, at)}</time>
      </span>
    </div>
  );
}
