import { FileWarning, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '@/i18n';
import type { DriftedFile, PlanFileChange } from './notices';

/** Files that are not as they were when the plan was written. */
export function DriftNotice({ files }: { files: DriftedFile[] }) {
  const t = useText('plan');
  const words = { new: t('driftNew'), changed: t('driftChanged'), deleted: t('driftDeleted') };
  return (
    <Warning icon={<FileWarning className="mt-0.5 size-4 shrink-0" aria-hidden="true" />} title={t('driftTitle')} hint={t('driftHint')}>
      <ul>
        {files.map((file) => (
          <li key={file.path} className="break-all">
            <code>{file.path}</code> ({words[file.change] ?? file.change})
          </li>
        ))}
      </ul>
    </Warning>
  );
}

/** The plan's file is not what was approved any more. */
export function StaleNotice({ change }: { change: PlanFileChange }) {
  const t = useText('plan');
  const titles: Record<PlanFileChange, string> = { edited: t('staleEdited'), deleted: t('staleDeleted'), unreadable: t('staleUnreadable') };
  return <Warning icon={<TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />} title={titles[change]} hint={t('staleHint')} />;
}

function Warning({ icon, title, hint, children }: { icon: ReactNode; title: string; hint: string; children?: ReactNode }) {
  return (
    <div role="note" className="flex gap-2 rounded-md border border-major bg-major-soft px-3 py-2 text-sm">
      <span className="text-major">{icon}</span>
      <div className="min-w-0">
        <p className="font-semibold text-major">{title}</p>
        {children}
        <p className="text-muted">{hint}</p>
      </div>
    </div>
  );
}
