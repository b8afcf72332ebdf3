import { Square } from 'lucide-react';
import { Link } from 'wouter';
import { Avatar } from '@/components/Avatar';
import { buttonClass } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { useLocale } from '@/i18n';
import { api } from '@/lib/api/client';
import { money } from '@/lib/number';
import { toastError } from '@/lib/toast';
import { age } from './age';
import { RowIcon } from './RowIcon';
import { aside, RowProgress, RowText } from './RowParts';
import type { Row } from './rows';
import type { Text } from '@/i18n';

const HEIGHTS: Record<Row['group'], string> = { needs_you: 'sm:min-h-13.5', running: 'sm:min-h-9.5', to_review: 'sm:min-h-9.5', recent: 'sm:min-h-8.5' };

interface Props {
  t: Text<'inbox'>;
  row: Row;
  isSelected: boolean;
  toggle: () => void;
  hasPeople: boolean;
  /** The name of whoever looks at it. */
  me: string;
}

/** Where the row leads: what is asked stands in the chat, what is to be reviewed on the page of changes. */
const addressOf = (row: Row) => `/w/${row.workspace_id}/c/${row.id}${row.group === 'to_review' ? '/changes' : ''}`;

/** A chat: what it asks or does, where, how far, for how much, whose, since when; and the one thing to do. */
export function InboxRow({ t, row, isSelected, toggle, hasPeople, me }: Props) {
  const locale = useLocale((state) => state.locale);
  const cost = row.cost > 0 ? money(locale, Math.round(row.cost * 100) / 100) : '';
  const doing = row.group === 'running' && row.config.agent_mode === 'plan' ? aside(t, row) : '';
  const about = [doing, row.workspace_name, row.person === me ? '' : row.person, cost].filter(Boolean).join(t('comma'));
  return (
    <li data-mode={row.config.agent_mode} data-row={row.id} data-selected={isSelected || undefined} className={`group/row relative -mx-2.5 flex items-start gap-3 px-2.5 py-2.5 hover:bg-surface has-[a:focus-visible]:bg-sunken data-selected:bg-sunken max-sm:mx-0 max-sm:border-t max-sm:px-4 sm:items-center sm:rounded-md sm:py-0 ${HEIGHTS[row.group]}`}>
      <label className="relative z-10 grid size-5 shrink-0 cursor-pointer place-items-center max-sm:mt-0.5 pointer-coarse:size-6">
        <input type="checkbox" checked={isSelected} onChange={toggle} aria-label={t('select', { title: row.title })} className="peer absolute inset-0 m-auto size-3.5 opacity-0 group-hover/row:opacity-100 checked:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-0 pointer-coarse:checked:opacity-100" />
        <span className="pointer-events-none grid place-items-center group-hover/row:invisible peer-checked:invisible peer-focus-visible:invisible pointer-coarse:group-hover/row:visible"><RowIcon t={t} row={row} /></span>
      </label>
      <span className="flex min-w-0 flex-1 flex-col sm:flex-row">
        <Link href={addressOf(row)} data-row-link className="flex min-w-0 flex-1 outline-none after:absolute after:inset-0 after:rounded-md focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-fg"><RowText t={t} row={row} /></Link>
        <span className="flex items-center gap-2 text-xs text-muted sm:hidden"><RowProgress t={t} row={row} isShort /><span className="truncate">{about}</span></span>
      </span>
      <span className="hidden w-28 shrink-0 truncate text-fg2 sm:block">{row.workspace_name}</span>
      <span className="hidden w-43 shrink-0 text-fg2 lg:block"><RowProgress t={t} row={row} /></span>
      <span className="hidden w-13 shrink-0 text-right text-fg2 sm:block">{cost}</span>
      {hasPeople && <span className="hidden shrink-0 sm:block">{row.person ? <><Avatar name={row.person} size="small" /><span className="sr-only">{row.person}</span></> : <span className="block size-5" />}</span>}
      <time dateTime={row.question?.created_at ?? row.updated_at} className="w-14 shrink-0 text-right text-fg2 max-sm:w-auto max-sm:text-xs max-sm:leading-5">{age(t, locale, row.question?.created_at ?? row.updated_at)}</time>
      <span className="relative z-10 hidden w-23 shrink-0 justify-end sm:flex"><RowButton t={t} row={row} /></span>
    </li>
  );
}

function RowButton({ t, row }: { t: Text<'inbox'>; row: Row }) {
  if (row.group === 'running') return <IconButton label={t('stop')} onClick={() => void api.stop(row.workspace_id, row.id).catch(toastError)} className="size-6.5"><Square size={13} aria-hidden /></IconButton>;
  const words = row.question ? (row.question.kind === 'user' ? t('answer') : row.question.kind === 'plan_approval' ? t('openPlan') : t('review')) : row.group === 'to_review' ? t('review') : null;
  return words && <Link href={addressOf(row)} tabIndex={-1} aria-hidden className={`${buttonClass('secondary')} min-h-6.5! px-2.5! py-0!`}>{words}</Link>;
}
