import { FileDiff, Maximize2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '@/components/Button';
import { Empty } from '@/components/Empty';
import { Failed } from '@/components/Failed';
import { LineCounts } from '@/components/LineCounts';
import { Segments } from '@/components/Segments';
import { Skeleton } from '@/components/Skeleton';
import { Tip } from '@/components/Tip';
import { useText } from '@/i18n';
import type { ChangedFile, Changes } from '@/lib/api/types';
import { reviewable } from '@/lib/chat/changedFiles';
import { useChatIds } from '@/lib/chat/context';
import { useMayChange } from '@/lib/rights';
import { ByMessage } from './ByMessage';
import { FileChange } from './FileChange';
import { weigh } from './model';
import { useChanges, usePages } from './useChanges';
import { canBeViewed, useViewed } from './useViewed';

type Order = 'file' | 'message';

/** What the chat changed, beside it; a link leads to the page for reviewing it. */
export function ChangesView() {
  const t = useText('changes');
  const changes = useChanges();
  if (changes.error) return <Failed error={changes.error} retry={() => void changes.refetch()} />;
  if (!changes.data) return <Skeleton />;
  if (changes.data.changes.length === 0) return <Empty icon={<FileDiff size={24} aria-hidden />} title={t('empty')} hint={t('emptyHint')} />;
  return <Shown changes={changes.data} />;
}

function Shown({ changes }: { changes: Changes }) {
  const t = useText('changes');
  const { workspaceId, chatId } = useChatIds();
  const [order, setOrder] = useState<Order>('file');
  const listed = reviewable(changes.total.files);
  const total = weigh(listed);
  return (
    <section aria-label={t('title')} className="flex min-w-0 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <Segments label={t('order')} value={order} choose={setOrder} choices={[['file', t('byFile')], ['message', t('byMessage')]]} />
        <p className="text-sm text-muted">{t('files', { count: changes.next_cursor ? changes.total.count : listed.length })} <LineCounts added={total.added} removed={total.removed} /></p>
        <div className="ml-auto flex items-center gap-2">
          <Tip text={t('openPage')}>
            <Link href={`/w/${workspaceId}/c/${chatId}/changes`} aria-label={t('openPage')} className="inline-flex size-8 items-center justify-center rounded-sm text-muted hover:bg-surface hover:text-fg pointer-coarse:size-11"><Maximize2 size={15} aria-hidden /></Link>
          </Tip>
        </div>
      </div>
      {order === 'file' ? <ByFile changes={changes} /> : <ByMessage changes={changes.changes} />}
      {order === 'message' && changes.truncated && <p className="p-3 text-sm text-muted">{t('truncated')}</p>}
    </section>
  );
}

function ByFile({ changes }: { changes: Changes }) {
  const t = useText('changes');
  const { pages, next, load } = usePages(changes);
  const { workspaceId } = useChatIds();
  const mayMark = useMayChange(workspaceId);
  const { has, mark, isKnown } = useViewed();
  const viewed = (file: ChangedFile) => (mayMark && canBeViewed(file) ? { isViewed: has(file), mark: (is: boolean) => void mark(file, is) } : null);
  const files = reviewable(pages.flatMap((page) => page.total.files));
  if (!isKnown) return <Skeleton />;
  if (files.length === 0) return <p className="p-4 text-muted">{t('allTakenBack')}</p>;
  return (
    <>
      <ul className="border-b">{files.map((file) => <FileChange key={file.path} file={file} viewed={viewed(file)} />)}</ul>
      {next && <Button look="quiet" className="m-3 self-start" onClick={() => void load()}>{t('more')}</Button>}
    </>
  );
}
