import { FileText, X } from 'lucide-react';
import { useLocale, useText } from '@/i18n';
import { removeAttachment, useAttachmentsOf } from '@/lib/attachments';
import { bytes } from '@/lib/number';
import { shownName } from '@/lib/marks';
import { IconButton } from './IconButton';

/** What goes out with the words: each with its name and size, and a way to take it out again. */
export function AttachmentList({ draft }: { draft: string }) {
  const t = useText('composer');
  const locale = useLocale((state) => state.locale);
  const list = useAttachmentsOf(draft);
  return (
    <ul aria-label={t('attachments')} className="flex w-full flex-wrap gap-2 px-3 pt-2.5">
      {list.map(({ key, name, size, image }) => (
        <li key={key} className="flex min-w-0 items-center gap-2 rounded-sm border border-line2 bg-bg py-0.5 pr-0.5 pl-2">
          {image ? <img src={image.address} alt="" className="h-8 max-w-16 rounded-xs object-cover" /> : <FileText size={15} aria-hidden className="shrink-0 text-fg2" />}
          <span className="min-w-0 truncate">{shownName(name)}</span>
          <span className="shrink-0 text-xs text-muted">{bytes(locale, size)}</span>
          <IconButton label={t('removeAttachment', { name: shownName(name) })} onClick={() => removeAttachment(draft, key)} className="size-7"><X size={14} aria-hidden /></IconButton>
        </li>
      ))}
    </ul>
  );
}
