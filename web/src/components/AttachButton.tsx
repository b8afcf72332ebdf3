import { ImagePlus } from 'lucide-react';
import { useRef } from 'react';
import { useText } from '@/i18n';
import { useAttaching } from '@/lib/useAttaching';
import { IconButton } from './IconButton';

/** Picks images and text files from this machine. */
export function AttachButton({ draft }: { draft: string }) {
  const t = useText('composer');
  const field = useRef<HTMLInputElement>(null);
  const { take } = useAttaching(draft);
  return (
    <>
      <IconButton label={t('attach')} onClick={() => field.current?.click()} className="size-7.5"><ImagePlus size={15} aria-hidden /></IconButton>
      <input ref={field} type="file" multiple hidden aria-label={t('attach')} onChange={({ currentTarget }) => { take([...(currentTarget.files ?? [])]); currentTarget.value = ''; }} />
    </>
  );
}
