import { FileWarning } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '@/i18n';
import { FileLink } from './FileLink';
import type { DriftedFile } from '@/lib/chat/drift';
import { shownName } from '@/lib/marks';

/** Something to know before going on. */
export function Warning({ icon, title, hint, children }: { icon: ReactNode; title: string; hint: string; children?: ReactNode }) {
  return (
    <div role="note" className="flex gap-2.5 rounded-md bg-major-soft px-3 py-2">
      <span className="text-major">{icon}</span>
      <div className="min-w-0">
        <p className="font-semibold">{title}</p>
        {children}
        <p className="text-fg2">{hint}</p>
      </div>
    </div>
  );
}

/** Files that are not as they were when the plan was written. `isOver`: it was approved all the same. */
export function DriftNotice({ files, isOver }: { files: DriftedFile[]; isOver: boolean }) {
  const t = useText('plan');
  return (
    <Warning icon={<FileWarning className="mt-0.5 size-4 shrink-0" aria-hidden="true" />} title={t('driftTitle')} hint={isOver ? t('driftHint') : t('driftBefore')}>
      <DriftList files={files} />
    </Warning>
  );
}

function DriftList({ files }: { files: DriftedFile[] }) {
  const t = useText('plan');
  const common = useText('common');
  const words = { new: t('driftNew'), changed: t('driftChanged'), deleted: t('driftDeleted') };
  return (
    <ul>
      {files.map((file) => (
        <li key={file.path} className="wrap-anywhere">
          <FileLink place={{ path: file.path, line: null }}><code>{shownName(file.path)}</code></FileLink>{common('aside', { text: words[file.change] ?? file.change })}
        </li>
      ))}
    </ul>
  );
}
