import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Lock, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '@/components/Button';
import { DiffLines } from '@/components/DiffLines';
import { Failed } from '@/components/Failed';
import { Modal } from '@/components/Modal';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import { reviewApi } from '@/lib/api/review';
import type { RevertedFile } from '@/lib/api/types';
import { api } from '@/lib/api/client';
import type { ChangedFile, RevertAnswer } from '@/lib/api/types';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { isInProgress } from '@/lib/chat/view';
import { shownName } from '@/lib/marks';
import { toast, toastError } from '@/lib/toast';
import { fateOf } from '../model';
import { parseHunks, type Hunk } from '@/lib/unifiedDiff';


/** A file that is asked about: wholly, or one hunk of it. */
export interface Asked {
  file: ChangedFile;
  sha256: string | null;
  hunk: Hunk | null;
}

const takenOf = ({ file, sha256, hunk }: Asked): RevertedFile => ({ path: file.path, after_sha256: sha256, ...(hunk && { hunks: hunk.numbers }) });

/** What taking back a file or a hunk would do; then does it. */
export function TakeBackDialog({ asked, close, reload }: { asked: Asked | null; close: () => void; reload: () => void }) {
  const t = useText('changesPage');
  const title = asked?.hunk === null ? t('takeBackFileTitle') : t('takeBackHunkTitle');
  return (
    <Modal isOpen={asked !== null} close={close} title={title} isWide isRead>
      {asked && <Preview asked={asked} close={close} reload={reload} />}
    </Modal>
  );
}

function Preview({ asked, close, reload }: { asked: Asked; close: () => void; reload: () => void }) {
  const t = useText('changesPage');
  const changes = useText('changes');
  const { workspaceId, chatId } = useChatIds();
  const isBusy = useChatView(isInProgress);
  const taken = takenOf(asked);
  const preview = useQuery({ queryKey: ['revert', chatId, taken], queryFn: () => reviewApi.takeBack(workspaceId, chatId, [taken], { preview: true }), staleTime: 0, gcTime: 0, retry: false });
  if (preview.error) return <Failed error={preview.error} retry={reload} />;
  if (!preview.data || preview.isFetching) return <Skeleton rows={3} />;
  const { files, conflicts } = preview.data;
  const [fate] = files;
  const lines = (preview.data.diffs ?? []).flatMap(({ diff }) => parseHunks(diff));
  return (
    <div className="flex flex-col gap-3">
      <p className="break-words"><code className="break-all">{shownName(asked.file.path)}</code>{fate && asked.hunk === null && <span className="text-fg2"> {changes(fateOf(fate))}</span>}</p>
      {lines.length > 0 && <><p className="text-sm text-fg2">{t('whatHappens')}</p><DiffLines hunks={lines} label={t('whatHappens')} /></>}
      {conflicts.length > 0 && <Conflicts conflicts={conflicts} />}
      {files.length === 0 && conflicts.length === 0 && <p className="text-fg2">{t('nothingToTakeBack')}</p>}
      {isBusy && <p role="status" className="text-sm text-major">{changes('revertBusy')}</p>}
      <Foot asked={asked} answer={preview.data} isBusy={isBusy} close={close} />
    </div>
  );
}

function Conflicts({ conflicts }: { conflicts: RevertAnswer['conflicts'] }) {
  const t = useText('changesPage');
  return (
    <div role="alert" className="rounded-md bg-major-soft px-3 py-2 text-sm">
      <p className="flex items-center gap-1.5 font-semibold text-major"><Lock size={14} aria-hidden />{t('conflict')}</p>
      <ul className="mt-1 flex flex-col gap-1">{conflicts.map((one) => <li key={one.path} className="break-words"><code className="break-all">{shownName(one.path)}</code> <span className="text-fg2">{one.reason}</span></li>)}</ul>
    </div>
  );
}

function Foot({ asked, answer, isBusy, close }: { asked: Asked; answer: RevertAnswer; isBusy: boolean; close: () => void }) {
  const t = useText('changesPage');
  const changes = useText('changes');
  const common = useText('common');
  const { workspaceId, chatId } = useChatIds();
  const queries = useQueryClient();
  const [isRunning, setRunning] = useState(false);
  const again = () => Promise.all([['changes', chatId], ['files', workspaceId], ['content', workspaceId]].map((queryKey) => queries.invalidateQueries({ queryKey })));
  const takeBack = async () => {
    setRunning(true);
    try {
      const { message } = await reviewApi.takeBack(workspaceId, chatId, [takenOf(asked)]);
      const words = asked.hunk === null ? t('fileTakenBack') : t('hunkTakenBack');
      const undo = (id: string) => () => void api.revert(workspaceId, chatId, id).then(again, toastError);
      toast(words, message ? { action: { label: changes('undo'), run: undo(message.id) } } : {});
      announce(words);
      close();
      await again();
    } catch (error) {
      toastError(error);
      setRunning(false);
    }
  };
  const canGo = answer.file_count > 0;
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <Button onClick={close}>{canGo ? common('cancel') : common('close')}</Button>
      {canGo && <Button look="danger" disabled={isBusy || isRunning} onClick={() => void takeBack()}><Undo2 size={14} aria-hidden />{asked.hunk === null ? t('takeBackFile') : t('takeBackHunk')}</Button>}
    </div>
  );
}
