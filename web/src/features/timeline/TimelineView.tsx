import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Button } from '@/components/Button';
import { Empty } from '@/components/Empty';
import { Failed } from '@/components/Failed';
import { Skeleton } from '@/components/Skeleton';
import { useLocale, useText } from '@/i18n';
import { api } from '@/lib/api/client';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { loadOlder } from '@/lib/chat/store';
import { toastError } from '@/lib/toast';
import { EntryRow } from './EntryRow';
import { entriesOf, TOPICS, type Entry, type Topic } from './entries';

const MOST_LOGGED = 1000;

/** What happened in the chat, from the first word to the last. */
export function TimelineView() {
  const t = useText('timeline');
  const { workspaceId, chatId } = useChatIds();
  const messages = useChatView((view) => view.messages);
  const hasOlder = useChatView((view) => view.hasOlder);
  const [hidden, setHidden] = useState<ReadonlySet<Topic>>(new Set());
  const from = hasOlder ? messages[0]?.created_at : undefined;
  const log = useQuery({
    queryKey: ['audit', 'chat', chatId, from, messages.at(-1)?.id],
    queryFn: () => api.audit({ workspace: workspaceId, chat: chatId, ...(from && { from }) }, MOST_LOGGED),
    placeholderData: (previous, query) => (query?.queryKey[2] === chatId ? previous : undefined),
  });
  const entries = useMemo(() => entriesOf(messages, log.data?.items ?? []), [messages, log.data]);
  if (log.error) return <Failed error={log.error} retry={() => void log.refetch()} />;
  if (!log.data) return <Skeleton rows={8} />;
  if (entries.length === 0) return <Empty icon={<History size={24} aria-hidden />} title={t('empty')} hint={t('emptyHint')} />;
  const shown = entries.filter((entry) => !hidden.has(entry.topic));
  const toggle = (topic: Topic) => setHidden(hidden.has(topic) ? new Set([...hidden].filter((one) => one !== topic)) : new Set([...hidden, topic]));
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-3 p-4">
      <div role="group" aria-label={t('topics')} className="flex flex-wrap gap-1.5">
        {TOPICS.filter((topic) => entries.some((entry) => entry.topic === topic)).map((topic) => (
          <button key={topic} type="button" aria-pressed={!hidden.has(topic)} onClick={() => toggle(topic)} className="min-h-7 rounded-full border border-control px-3 text-sm text-muted aria-pressed:bg-surface aria-pressed:font-medium aria-pressed:text-fg pointer-coarse:min-h-11">
            {t(topic)} <span className="tabular-nums">{entries.filter((entry) => entry.topic === topic).length}</span>
          </button>
        ))}
      </div>
      {hasOlder && <Button look="quiet" className="self-center" onClick={() => void loadOlder(workspaceId, chatId).catch(toastError)}><History size={14} aria-hidden />{t('older')}</Button>}
      {shown.length === 0 ? <p className="p-8 text-center text-muted">{t('allHidden')}</p> : <Days entries={shown} />}
    </div>
  );
}

function Days({ entries }: { entries: Entry[] }) {
  const locale = useLocale((state) => state.locale);
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'full' });
  return [...Map.groupBy(entries, (entry) => day.format(new Date(entry.at)))].map(([name, own]) => (
    <section key={name} aria-label={name}>
      <h2 className="mb-1 text-sm font-semibold text-muted">{name}</h2>
      <ol className="relative before:absolute before:inset-y-2 before:left-[4.75rem] before:w-px before:bg-line">{own.map((entry) => <EntryRow key={entry.key} entry={entry} />)}</ol>
    </section>
  ));
}
