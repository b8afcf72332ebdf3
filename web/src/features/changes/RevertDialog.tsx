import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronRight, Lock, Undo2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Button } from '@/components/Button';
import { Failed } from '@/components/Failed';
import { Modal } from '@/components/Modal';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import type { RevertAnswer, RevertStep } from '@/lib/api/types';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { closeRevert, useRevert } from '@/lib/chat/revert';
import { isInProgress } from '@/lib/chat/view';
import { toast, toastError } from '@/lib/toast';
import { shownName } from '@/lib/marks';
import { fateOf, sinceOf, unshown } from './model';
import { useChanges } from './useChanges';

const DiffView = lazy(() => import('./DiffView'));

/** What taking back to before a message would do; then does it. */
export function RevertDialog() {
  const t = useText('changes');
  const from = useRevert((state) => state.from);
  return (
    <Modal isOpen={from !== null} close={closeRevert} title={t('revertTitle')} isWide>
      {from !== null && <Preview key={from} from={from} />}
    </Modal>
  );
}

function Preview({ from }: { from: string }) {
  const t = useText('changes');
  const { workspaceId, chatId } = useChatIds();
  const isBusy = useChatView(isInProgress);
  const preview = useQuery({ queryKey: ['revert', chatId, from], queryFn: () => api.revert(workspaceId, chatId, from, { preview: true }), staleTime: 0, gcTime: 0 });
  if (preview.error) return <Failed error={preview.error} retry={() => void preview.refetch()} />;
  if (!preview.data || preview.isFetching) return <Skeleton rows={3} />;
  const { files, conflicts } = preview.data;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-muted">{files.length === 0 && conflicts.length === 0 ? t('nothingToTakeBack') : t('revertHint')}</p>
      {files.length > 0 && <ul aria-label={t('willTakeBack')} className="overflow-hidden border-y">{files.map((step) => <StepView key={step.path} step={step} from={from} />)}</ul>}
      <Conflicts conflicts={conflicts} count={preview.data.conflict_count} />
      {isBusy && <p role="status" className="text-sm text-major">{t('revertBusy')}</p>}
      <Actions from={from} answer={preview.data} isBusy={isBusy} />
    </div>
  );
}

function Conflicts({ conflicts, count }: { conflicts: RevertAnswer['conflicts']; count: number }) {
  const t = useText('changes');
  if (conflicts.length === 0) return null;
  return (
    <div className="rounded-md bg-major-soft px-3 py-2 text-sm">
      <p className="flex items-center gap-1.5 font-semibold text-major"><Lock size={14} aria-hidden />{t('conflicts', { count })}</p>
      <ul aria-label={t('conflictList')} className="mt-1 flex flex-col gap-1">
        {conflicts.map((conflict) => <li key={conflict.path}><code className="break-all">{shownName(conflict.path)}</code> <span className="text-muted">{conflict.reason}</span></li>)}
      </ul>
    </div>
  );
}

function StepView({ step, from }: { step: RevertStep; from: string }) {
  const t = useText('changes');
  const [isOpen, setOpen] = useState(false);
  const changes = useChanges();
  const since = sinceOf(changes.data?.changes ?? [], from, step.path).filter(({ file }) => unshown(file) === null);
  return (
    <li className="border-t first:border-t-0">
      <button type="button" disabled={since.length === 0} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="flex min-h-9 w-full items-center gap-2 px-3 py-1 text-left text-sm hover:bg-surface disabled:hover:bg-transparent pointer-coarse:min-h-11">
        <ChevronRight size={14} aria-hidden className={`shrink-0 text-muted transition-transform ${isOpen ? 'rotate-90' : ''} ${since.length === 0 ? 'invisible' : ''}`} />
        <code className="min-w-0 flex-1 break-all">{shownName(step.path)}</code>
        <span className="shrink-0 text-muted">{t(fateOf(step))}</span>
      </button>
      {isOpen && (
        <div className="max-h-72 overflow-y-auto border-t">
          <p className="px-3 py-1 text-xs text-muted">{t('whatGoes')}</p>
          <Suspense fallback={<Skeleton rows={2} />}>{since.map(({ call, file }) => <DiffView key={call.message_id} path={file.path} diff={file.diff} />)}</Suspense>
        </div>
      )}
    </li>
  );
}

function Actions({ from, answer, isBusy }: { from: string; answer: RevertAnswer; isBusy: boolean }) {
  const t = useText('changes');
  const common = useText('common');
  const queries = useQueryClient();
  const { workspaceId, chatId } = useChatIds();
  const [isRunning, setRunning] = useState(false);
  const count = answer.file_count;
  const again = () => Promise.all([['changes', chatId], ['files', workspaceId], ['content', workspaceId]].map((queryKey) => queries.invalidateQueries({ queryKey })));
  const undo = (message: string) => () => void api.revert(workspaceId, chatId, message).then(again, toastError);
  const takeBack = async () => {
    setRunning(true);
    try {
      const done = await api.revert(workspaceId, chatId, from, { skip_conflicts: answer.conflicts.length > 0 });
      const { message } = done;
      toast(t('takenBack', { count: done.file_count }), message ? { action: { label: t('undo'), run: undo(message.id) } } : {});
      closeRevert();
      await again();
    } catch (error) {
      toastError(error);
    } finally {
      setRunning(false);
    }
  };
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <Button onClick={closeRevert}>{count > 0 ? common('cancel') : common('close')}</Button>
      {count > 0 && (
        <Button look="danger" disabled={isBusy || isRunning} onClick={() => void takeBack()}>
          <Undo2 size={14} aria-hidden />
          {answer.conflicts.length > 0 ? t('takeBackRest', { count }) : t('takeBackFiles', { count })}
        </Button>
      )}
    </div>
  );
}
