import { Pin } from 'lucide-react';
import { Meter } from '@/components/Meter';
import { ModeIcon } from '@/components/RoleIcon';
import { useText } from '@/i18n';
import { useTitleOf } from '@/lib/title';
import { Code } from './Code';
import { headline } from './headline';
import type { Row } from './rows';
import type { Text } from '@/i18n';

/** What the row is about: the question above the title, or the title and what became of it. */
export function RowText({ t, row }: { t: Text<'inbox'>; row: Row }) {
  const title = useTitleOf()(row);
  const pin = row.pinned && <Pin size={12} role="img" aria-label={t('pinned')} className="mr-1.5 inline-block shrink-0 text-fg2" />;
  if (row.question) {
    return (
      <span className="min-w-0 flex-1">
        <span className="line-clamp-2 font-semibold sm:line-clamp-1">{pin}<Code text={headline(t, row.question)} /></span>
        <span className="flex min-w-0 items-center gap-1.5 text-xs text-muted"><ModeWord row={row} /><span className="truncate">{row.progress?.current_step != null ? t('atStep', { title, step: row.progress.current_step }) : title}</span></span>
      </span>
    );
  }
  const isDim = row.group === 'recent';
  return (
    <span className={`flex min-w-0 flex-1 items-baseline gap-2 ${isDim ? 'text-fg2' : ''}`}>
      <span className="truncate">{pin}{title}</span>
      <span className={`hidden shrink-0 truncate sm:block sm:max-w-[45%] ${row.state === 'failed' ? 'text-critical' : 'text-muted'}`}>{aside(t, row)}</span>
    </span>
  );
}

function ModeWord({ row }: { row: Row }) {
  const t = useText('mode');
  const mode = row.config.agent_mode;
  return <span className="inline-flex shrink-0 items-center gap-1 text-mode"><ModeIcon mode={mode} size={12} />{mode === 'plan' ? t('plan') : t('build')}</span>;
}

/** What the chat is doing, or what became of it. */
export function aside(t: Text<'inbox'>, row: Row): string {
  if (row.group === 'running') return row.progress?.current_action ?? t(row.state);
  if (row.state === 'failed') return t('failed');
  if (row.group === 'to_review') return t('files', { count: row.files });
  if (row.files > 0) return t('filesViewed', { count: row.files });
  if (row.progress) return t('stepsDone', { done: row.progress.done, total: row.progress.total });
  return row.config.plan_file && row.config.agent_mode === 'plan' ? t('planWaits') : t('answered');
}

/** How far it is: steps of the plan, files that were viewed, questions. */
export function RowProgress({ t, row, isShort = false }: { t: Text<'inbox'>; row: Row; isShort?: boolean }) {
  const { progress, question } = row;
  if (row.group === 'to_review') return <Bar value={row.viewed} total={row.files} colour="fill-fg2" text={t('viewedOf', { viewed: row.viewed, files: row.files })} />;
  if (row.group === 'recent') return null;
  if (progress) return <Bar value={progress.done + progress.skipped} total={progress.total} text={t('ofTotal', { done: progress.done + progress.skipped, total: progress.total })} />;
  if (question && question.count > 1) return <span>{t('questionOf', { count: question.count })}</span>;
  return !isShort && row.group === 'running' && row.config.agent_mode === 'plan' ? <span>{t('planning')}</span> : null;
}

function Bar({ text, ...bar }: { value: number; total: number; colour?: string; text: string }) {
  return <span className="inline-flex items-center gap-2"><Meter {...bar} /><span className="whitespace-nowrap">{text}</span></span>;
}
