import { useQuery } from '@tanstack/react-query';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '@/components/Button';
import { Failed } from '@/components/Failed';
import { RoleLabel } from '@/components/RoleLabel';
import { Skeleton } from '@/components/Skeleton';
import { useLocale, useText } from '@/i18n';
import { api, type AuditFilter } from '@/lib/api/client';
import type { AuditEntry, AuditKind, Chat } from '@/lib/api/types';
import { moment } from '@/lib/time';
import { Choice } from './Filters';
import { detailsOf } from './details';

const KINDS: AuditKind[] = [
  'tool_blocked', 'disallowed_tool_attempt_in_planning', 'mode_entered', 'execution_intent_detected', 'mode_switched_by_intent', 'question_asked', 'approval_requested', 'approval_given',
  'approval_denied', 'plan_written', 'plan_approved', 'changes_taken_back', 'grant_revoked', 'login_failed', 'account_changed',
];
const PAGE = 50;

/** The rows of the log, newest first, page by page. */
export function LogTable({ filter, kind, setKind, chats }: { filter: AuditFilter; kind: string; setKind: (kind: string) => void; chats: Chat[] }) {
  const t = useText('audit');
  const id = useId();
  /** Where each page so far began. */
  const [cursors, setCursors] = useState<string[]>(['']);
  const cursor = cursors.at(-1);
  const asked = { ...filter, ...(kind && { kind }) };
  const page = useQuery({ queryKey: ['audit', 'rows', asked, cursor], queryFn: () => api.audit(asked, PAGE, cursor), placeholderData: (previous) => previous });
  const next = page.data?.next;
  return (
    <section aria-labelledby={id} className="border-t">
      <div className="flex flex-wrap items-center gap-3 px-4 py-3">
        <h2 id={id} className="mr-auto font-semibold">{t('log')}</h2>
        <Choice label={t('kind')} value={kind} choose={setKind}>{KINDS.map((one) => <option key={one} value={one}>{t(one)}</option>)}</Choice>
      </div>
      {page.error ? <Failed error={page.error} retry={() => void page.refetch()} /> : !page.data ? <Skeleton /> : page.data.items.length === 0 ? <p className="border-t px-4 py-8 text-center text-muted">{t('noRows')}</p> : <Rows entries={page.data.items} chats={chats} isOld={page.isPlaceholderData} />}
      {(cursors.length > 1 || next) && (
        <nav aria-label={t('pages')} className="flex items-center justify-end gap-2 border-t px-4 py-2">
          <span className="mr-auto text-sm text-muted">{t('page', { page: cursors.length })}</span>
          <Button disabled={cursors.length === 1} onClick={() => setCursors(cursors.slice(0, -1))}><ChevronLeft size={14} aria-hidden />{t('newer')}</Button>
          <Button disabled={!next || page.isPlaceholderData} onClick={() => next && setCursors([...cursors, next])}>{t('older')}<ChevronRight size={14} aria-hidden /></Button>
        </nav>
      )}
    </section>
  );
}

function Rows({ entries, chats, isOld }: { entries: AuditEntry[]; chats: Chat[]; isOld: boolean }) {
  const t = useText('audit');
  return (
    <div tabIndex={0} role="group" aria-label={t('log')} aria-busy={isOld} className="overflow-x-auto">
      <table className="w-full text-sm">
        <thead className="border-t text-left text-muted">
          <tr>{[t('when'), t('event'), t('detail'), t('who'), t('chat')].map((name) => <th key={name} scope="col" className="py-1.5 pr-4 font-medium">{name}</th>)}</tr>
        </thead>
        <tbody>{entries.map((entry) => <Row key={entry.id} entry={entry} chat={chats.find((chat) => chat.id === entry.chat_id)} />)}</tbody>
      </table>
    </div>
  );
}

function Row({ entry, chat }: { entry: AuditEntry; chat: Chat | undefined }) {
  const t = useText('audit');
  const locale = useLocale((state) => state.locale);
  const isViolation = entry.kind === 'tool_blocked' || entry.kind === 'disallowed_tool_attempt_in_planning';
  const details = detailsOf(t, entry);
  return (
    <tr className="border-t align-top">
      <td className="py-1.5 pr-4 whitespace-nowrap text-muted"><time dateTime={entry.at}>{moment(locale, entry.at)}</time></td>
      <td className={`py-1.5 pr-4 whitespace-nowrap ${isViolation ? 'text-critical' : ''}`}>{t(entry.kind)}</td>
      <td className="min-w-48 py-1.5 pr-4">
        {Object.keys(entry.details).length > 0 ? (
          <details>
            <summary className="break-all">{details || t('more')}</summary>
            <pre tabIndex={0} className="mt-1 max-h-60 overflow-auto rounded-sm bg-surface p-2 whitespace-pre-wrap">{JSON.stringify(entry.details, null, 2)}</pre>
          </details>
        ) : details}
      </td>
      <td className="py-1.5 pr-4">
        {entry.agent_role && <RoleLabel role={entry.agent_role} />}
        {entry.user && <span className="block truncate">{entry.user}</span>}
        {entry.model && <span className="block max-w-48 truncate font-mono text-xs text-muted">{entry.model}</span>}
      </td>
      <td className="max-w-48 py-1.5 pr-4">
        {entry.chat_id && entry.workspace_id && <Link href={`/w/${entry.workspace_id}/c/${entry.chat_id}/timeline`} className="block truncate underline decoration-control underline-offset-3">{chat?.title ?? t('chat')}</Link>}
      </td>
    </tr>
  );
}
