import { FileText } from 'lucide-react';
import type { AttachedFile } from '@/lib/attached';
import { shownName } from '@/lib/marks';

/** Text files that came with a message: their names, and their text when opened. */
export function AttachedFiles({ files }: { files: AttachedFile[] }) {
  return files.map(({ name, text }, place) => (
    <details key={place} className="mt-1.5 min-w-0 rounded-sm border border-line2 bg-bg">
      <summary className="flex min-h-7.5 cursor-pointer items-center gap-2 px-2 pointer-coarse:min-h-11"><FileText size={14} aria-hidden className="shrink-0 text-fg2" /><span className="min-w-0 truncate">{shownName(name)}</span></summary>
      <pre tabIndex={0} className="max-h-80 overflow-auto border-t px-3 py-2 text-sm break-words whitespace-pre-wrap">{text}</pre>
    </details>
  ));
}
