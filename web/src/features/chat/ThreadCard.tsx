import { Check, CircleX, LoaderCircle } from 'lucide-react';
import { useState } from 'react';
import { RoleIcon } from '@/components/RoleIcon';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import type { Thread } from '@/lib/chat/rows';
import type { LiveText } from '@/lib/chat/view';
import { useRoleWords } from '@/lib/roles';
import { ActivityLine, detailsClass } from './ActivityLine';
import { LiveMessage } from './AssistantMessage';
import { ItemView } from './ItemView';
import { errorOf } from './toolCall';

/** A task that was handed to another role: what it is, and all that was said and done for it. Open while it is worked on. */
export function ThreadCard({ thread }: { thread: Thread & { live?: LiveText } }) {
  const t = useText('chat');
  const { title } = useRoleWords();
  const { call, result, task, role, rows, live, helper } = thread;
  const who = helper ? t('helper') : role ? title(role) : t('delegate');
  const isRunning = helper === 'running' || (call !== null && result === null);
  const [chosen, setChosen] = useState<boolean | null>(null);
  // Several helpers read at once, so each begins as one line.
  const isOpen = chosen ?? (helper === null && (isRunning || call === null));
  const error = errorOf(result);
  const [Icon, colour, state] = isRunning
    ? ([LoaderCircle, 'text-mode motion-safe:animate-spin', t('threadRunning')] as const)
    : error ? ([CircleX, 'text-critical', t('threadFailed')] as const) : ([Check, 'text-fg2', t('threadDone')] as const);
  return (
    <article aria-label={t('thread', { role: who })}>
      <ActivityLine isOpen={isOpen} toggle={() => setChosen(!isOpen)}>
        <span className="flex shrink-0 items-center gap-1.5 font-semibold">{role && <RoleIcon role={role} />}{who}</span>
        <span className="min-w-0 flex-1 truncate">{task}</span>
        <span className="flex shrink-0 items-center gap-1.5 text-xs"><span className="text-muted max-sm:sr-only">{t('threadSteps', { count: rows.length })}, {state}</span><Icon size={14} aria-hidden className={colour} /></span>
      </ActivityLine>
      {isOpen && (
        <div className={`flex flex-col gap-2 py-1 ${detailsClass}`}>
          {task.length > 80 && <p className="whitespace-pre-wrap text-muted">{task}</p>}
          {rows.map((row) => <ItemView key={row.key} item={row} />)}
          {live && <LiveMessage live={live} />}
        </div>
      )}
      {error && <p className={`${detailsClass} text-critical`}>{error.message}</p>}
      {result && !error && !isOpen && (
        <div className={detailsClass}><p className="text-xs text-muted">{t('report')}</p><Markdown text={result.content} /></div>
      )}
    </article>
  );
}
