import { FileDiff } from 'lucide-react';
import { useState } from 'react';
import { Empty } from '@/components/Empty';
import { Failed } from '@/components/Failed';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import type { ChangedFile } from '@/lib/api/types';
import { useIsNarrow, useMedia } from '@/lib/layout';
import { FilesAndDiffs } from './FilesAndDiffs';
import { ReviewBar } from './ReviewBar';
import { SinceDialog } from './SinceDialog';
import { TakeBackDialog } from './TakeBackDialog';
import { useChangedFiles } from './useChangedFiles';
import { useReview } from './useReview';
import '@/components/DiffLines.css';
import './page.css';

/** What the chat changed, to be reviewed: a tree of files and their diffs. */
export function ChangesPage() {
  const t = useText('changes');
  const { files, error, retry } = useChangedFiles();
  if (error && !files) return <Failed error={error} retry={retry} />;
  if (!files) return <Skeleton />;
  if (files.length === 0) return <Empty icon={<FileDiff size={24} aria-hidden />} title={t('empty')} hint={t('emptyHint')} />;
  return <Review files={files} />;
}

function Review({ files }: { files: ChangedFile[] }) {
  const t = useText('changesPage');
  const review = useReview(files);
  const isNarrow = useIsNarrow();
  const hasRoom = useMedia('(min-width: 900px)');
  const [isSince, setSince] = useState(false);
  const isSplit = hasRoom && review.isSplit;
  const setSplit = hasRoom ? review.setSplit : null;
  if (!review.isKnown) return <Skeleton />;
  const bar = <ReviewBar files={files} viewed={review.viewed} isSplit={isSplit} setSplit={setSplit} comments={review.comments} mayChange={review.actions.mayChange} takeBackSince={() => setSince(true)} />;
  return (
    <section aria-label={t('title')} className="review">
      <FilesAndDiffs review={review} isSplit={isSplit} setSplit={setSplit} isNarrow={isNarrow} bar={bar} />
      <TakeBackDialog asked={review.asked} close={review.close} reload={() => { if (review.asked) review.diffs.again(review.asked.file); review.close(); }} />
      <SinceDialog isOpen={isSince} close={() => setSince(false)} causes={review.causes} />
    </section>
  );
}
