import { FolderPlus, Inbox as InboxIcon } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button } from '@/components/Button';
import { Empty } from '@/components/Empty';
import { Failed } from '@/components/Failed';
import { OfflineBanner } from '@/components/OfflineBanner';
import { part } from '@/components/part';
import { Skeleton } from '@/components/Skeleton';
import { useChatLists } from './queries';
import { useText, withWords, type Text } from '@/i18n';
import { showDialog } from '@/lib/dialogs';
import { useInbox } from '@/lib/inbox';
import { useIsNarrow } from '@/lib/layout';
import { useLacksModel } from '@/lib/demo';
import { useAddsFolders, useMe } from '@/lib/workspaces';
import { setFilter, useFilter } from './filter';
import { Filters } from './Filters';
import { InboxGroup } from './InboxGroup';
import { InboxHead } from './InboxHead';
import { KeyHints } from './KeyHints';
import { NewChatForm } from './NewChatForm';
import { GROUPS, isFiltered, listedRows, passes, rowsOf } from './rows';
import { useInboxKeys } from './useInboxKeys';
import { useMarks } from './useMarks';
import { useSelection } from './useSelection';

const ModelNotice = part(() => withWords('start', import('./ModelNotice')).then((all) => all.ModelNotice), null);
const SelectionBar = part(() => import('./SelectionBar').then((all) => all.SelectionBar), null);

/** Home: a new task, and the work of all workspaces. */
export function InboxPage() {
  const t = useText('inbox');
  const inbox = useInbox();
  const { lists, isLoading } = useChatLists();
  const isNarrow = useIsNarrow();
  const addsFolders = useAddsFolders();
  const lacksModel = useLacksModel();
  const me = useMe().data?.user.name ?? '';
  const filter = useFilter((state) => state.filter);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => { document.title = 'Planwright'; }, []);
  const workspaces = lists.map((one) => one.workspace);
  const known = inbox.data ? rowsOf(inbox.data) : [];
  const all = filter.shown === 'open' ? known : listedRows(lists, known, filter.shown);
  const people = [...new Set(known.flatMap(({ person }) => (person ? [person] : [])))].toSorted();
  const rows = all.filter((row) => passes(row, filter));
  const selection = useSelection(rows.map(({ id }) => id));
  const marks = useMarks(t);
  useInboxKeys({ rows, selection, archive: marks.archive, field });
  const groups = filter.shown === 'open' ? GROUPS.map((name) => ({ name, rows: rows.filter((row) => row.group === name) })) : [{ name: filter.shown, rows }];
  const shown = groups.filter((group) => group.rows.length > 0);
  const isEmpty = inbox.data !== undefined && known.length === 0 && filter.shown === 'open' && !isFiltered(filter);
  const runs = inbox.data?.running.length ?? 0;
  const form = <NewChatForm t={t} workspaces={workspaces} takesFocus={isEmpty} isNarrow={isNarrow} />;
  const filters = <Filters t={t} workspaces={workspaces} people={people} me={me} field={field} isNarrow={isNarrow} />;
  return (
    <div className="flex h-full flex-col">
      <InboxHead t={t} />
      <OfflineBanner />
      <main id="content" className="min-h-0 flex-1 overflow-y-auto" aria-busy={inbox.isLoading || isLoading}>
        <div className="mx-auto flex w-full max-w-279 flex-col gap-3 pt-1 pb-6 sm:gap-4 sm:px-6 sm:pt-6.5">
          <h1 className="sr-only">{t('title')}</h1>
          {lacksModel && <ModelNotice />}
          {!isNarrow && form}
          {inbox.error && <Failed error={inbox.error} retry={() => void inbox.refetch()} />}
          {inbox.isLoading && <Skeleton className="px-0" />}
          {!isLoading && lists.length === 0 && <NoWorkspace t={t} addsFolders={addsFolders} />}
          {selection.ids.length > 0 && <SelectionBar t={t} rows={rows.filter(({ id }) => selection.has(id))} selection={selection} marks={marks} />}
          {isEmpty && lists.length > 0 && <Empty icon={<InboxIcon size={22} aria-hidden />} title={t('nothing')} hint={t('nothingHint')} />}
          {!isEmpty && inbox.data && shown[0]?.name !== 'needs_you' && filter.shown === 'open' && !isFiltered(filter) && <Calm title={t('calm')} hint={runs > 0 ? t('calmRunning', { count: runs }) : ''} />}
          {shown.map(({ name, rows: own }, index) => (
            <InboxGroup key={name} t={t} title={t(name)} rows={own} selection={selection} hasPeople={people.length > 0} me={me}>
              {index === 0 && filters}
              {name === 'recent' && <Button look="quiet" onClick={() => setFilter({ shown: 'all' })} className="px-2!">{t('showAll')}</Button>}
            </InboxGroup>
          ))}
          {shown.length === 0 && !isEmpty && inbox.data && <><div className="flex justify-end max-sm:px-4">{filters}</div><p className="text-muted max-sm:px-4">{t('noMatch')}</p></>}
        </div>
      </main>
      <footer className="shrink-0 max-sm:px-3 max-sm:pt-1 max-sm:pb-[max(0.75rem,env(safe-area-inset-bottom))]">{isNarrow ? form : <KeyHints t={t} />}</footer>
    </div>
  );
}

function NoWorkspace({ t, addsFolders }: { t: Text<'inbox'>; addsFolders: boolean }) {
  return (
    <div className="flex flex-col items-start gap-2 max-sm:px-4">
      <p className="text-muted">{t(addsFolders ? 'noWorkspace' : 'notInvited')}</p>
      {addsFolders && <Button onClick={() => showDialog({ kind: 'add-folder' })}><FolderPlus size={15} aria-hidden />{t('addFolder')}</Button>}
    </div>
  );
}

function Calm({ title, hint }: { title: string; hint: string }) {
  return <p className="flex items-center gap-2 text-fg2 max-sm:px-4"><InboxIcon size={16} aria-hidden className="text-muted" /><span><span className="font-semibold text-fg">{title}</span>{hint && ` · ${hint}`}</span></p>;
}
