import { ArrowLeft, ChevronLeft, ChevronRight } from 'lucide-react';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import type { ChangedFile } from '@/lib/api/types';

/** On a phone one file is shown at a time: back to the list, and to the files before and after. */
export function PhoneBar({ order, file, show }: { order: ChangedFile[]; file: ChangedFile; show: (path: string | null) => void }) {
  const t = useText('changesPage');
  const here = order.indexOf(file);
  const [before, after] = [order[here - 1], order[here + 1]];
  return (
    <div className="flex shrink-0 items-center border-b">
      <IconButton label={t('backToList')} onClick={() => show(null)}><ArrowLeft size={17} aria-hidden /></IconButton>
      <p className="min-w-0 flex-1 text-center text-fg2">{t('placeOf', { place: here + 1, count: order.length })}</p>
      <IconButton label={t('previousFile')} disabled={!before} onClick={() => before && show(before.path)}><ChevronLeft size={18} aria-hidden /></IconButton>
      <IconButton label={t('nextFile')} disabled={!after} onClick={() => after && show(after.path)}><ChevronRight size={18} aria-hidden /></IconButton>
    </div>
  );
}
