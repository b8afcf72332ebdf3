import { ArrowUpRight, CircleCheck, CircleHelp, CircleSlash, Flag, Info, ListChecks, MessageSquare, MessageSquareText, Minimize2, OctagonX, Shuffle, Undo2, UserCheck, Wrench, Zap, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { RoleLabel } from '@/components/RoleLabel';
import { useLocale, useText } from '@/i18n';
import { useChatIds } from '@/lib/chat/context';
import { useRoleWords } from '@/lib/roles';
import { clock } from '@/lib/time';
import { opening, type Entry } from './entries';

const LOOKS: Record<Entry['kind'], [LucideIcon, string]> = {
  began: [Flag, 'text-muted'],
  said: [MessageSquare, 'text-fg'],
  answered: [UserCheck, 'text-fg'],
  replied: [MessageSquareText, 'text-muted'],
  planned: [ListChecks, 'text-fg'],
  asked: [CircleHelp, 'text-major'],
  switched: [Shuffle, 'text-fg'],
  called: [Wrench, 'text-muted'],
  blocked: [OctagonX, 'text-critical'],
  allowed: [CircleCheck, 'text-act'],
  denied: [CircleSlash, 'text-critical'],
  ordered: [Zap, 'text-major'],
  reverted: [Undo2, 'text-major'],
  compacted: [Minimize2, 'text-muted'],
  note: [Info, 'text-muted'],
};

export function EntryRow({ entry }: { entry: Entry }) {
  const t = useText('timeline');
  const locale = useLocale((state) => state.locale);
  const { workspaceId, chatId } = useChatIds();
  const [Icon, colour] = LOOKS[entry.kind];
  return (
    <li data-kind={entry.kind} className="relative flex items-start gap-3 rounded-sm py-1.5">
      <time dateTime={entry.at} className="w-14 shrink-0 pt-px text-right text-xs text-muted tabular-nums">{clock(locale, entry.at)}</time>
      <span className={`z-10 flex size-6 shrink-0 items-center justify-center rounded-full border bg-bg ${colour}`}><Icon size={13} aria-hidden /></span>
      <div className="min-w-0 flex-1 text-sm">
        <p className="flex flex-wrap items-center gap-x-2">
          <span className={`font-semibold ${entry.kind === 'blocked' || entry.kind === 'denied' ? 'text-critical' : ''}`}>{entry.kind === 'planned' ? t('planned', { revision: entry.revision }) : t(entry.kind)}</span>
          {entry.role && <RoleLabel role={entry.role} size={12} className="text-xs" />}
          {entry.message && <Link href={`/w/${workspaceId}/c/${chatId}?m=${entry.message}`} aria-label={t('show')} className="ml-auto inline-flex size-6 items-center justify-center rounded-sm text-muted hover:bg-surface hover:text-fg pointer-coarse:size-11"><ArrowUpRight size={14} aria-hidden /></Link>}
        </p>
        <Told entry={entry} />
      </div>
    </li>
  );
}

function Told({ entry }: { entry: Entry }): ReactNode {
  const t = useText('timeline');
  const { title } = useRoleWords();
  const audit = useText('audit');
  const line = 'line-clamp-2 break-words text-muted';
  switch (entry.kind) {
    case 'began':
    case 'ordered': return null;
    case 'switched': return <p className="text-muted">{t('switchedTo', { role: title(entry.to) })} · {audit(entry.by)}</p>;
    case 'called': return <p className={line}>{entry.tools.map(([tool, count]) => (count > 1 ? `${tool} × ${count}` : tool)).join(', ')}</p>;
    case 'blocked': return <p className={line}><code>{entry.tool}</code> {entry.aim} · {entry.code}</p>;
    case 'allowed':
    case 'denied': return entry.tool && <p className={line}><code>{entry.tool}</code></p>;
    case 'asked': return <p className={line}>{entry.severity && `${audit(entry.severity)} · `}{opening(entry.text)}</p>;
    case 'said':
    case 'answered':
    case 'replied':
    case 'note':
    case 'reverted':
    case 'compacted':
    case 'planned': return <p className={line}>{opening(entry.text)}</p>;
  }
}
