import { Undo2 } from 'lucide-react';
import { Button } from '@/components/Button';
import { Meter } from '@/components/Meter';
import { Segments } from '@/components/Segments';
import { useText } from '@/i18n';
import type { ChangedFile } from '@/lib/api/types';
import { LineCounts } from '@/components/LineCounts';
import { weigh } from '../model';
import { SendComments } from './SendComments';
import type { Comments } from './comments';

interface Props {
  files: ChangedFile[];
  viewed: number;
  isSplit: boolean;
  /** Null where there is no room for two columns. */
  setSplit: ((isSplit: boolean) => void) | null;
  comments: Comments;
  mayChange: boolean;
  takeBackSince: () => void;
}

/** How much there is and how much of it was looked at; what is done with all of it. */
export function ReviewBar({ files, viewed, isSplit, setSplit, comments, mayChange, takeBackSince }: Props) {
  const t = useText('changesPage');
  const { added, removed, files: count } = weigh(files);
  return (
    <div className="review-bar">
      <p className="flex items-center gap-3">
        <b className="font-semibold">{t('files', { count })}</b>
        <LineCounts added={added} removed={removed} />
      </p>
      <p className="flex items-center gap-2 text-fg2"><Meter value={viewed} total={count} colour="fill-fg2" /><span>{t('viewedOf', { viewed, count })}</span></p>
      <div className="ml-auto flex flex-wrap items-center gap-2">
        {setSplit && <Segments label={t('view')} value={isSplit ? 'split' : 'unified'} choose={(view) => setSplit(view === 'split')} choices={[['unified', t('unified')], ['split', t('split')]]} />}
        {mayChange && <Button onClick={takeBackSince}><Undo2 size={14} aria-hidden />{t('takeBackSince')}</Button>}
        {mayChange && comments.ready.length > 0 && <SendComments comments={comments} />}
      </div>
    </div>
  );
}
