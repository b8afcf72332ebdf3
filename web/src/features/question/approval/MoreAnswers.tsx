import { ChevronDown, ChevronUp } from 'lucide-react';
import { useState } from 'react';
import { Button } from '@/components/Button';
import { GrantsDialog } from '@/components/GrantsDialog';
import { useText } from '@/i18n';

interface Props {
  label: string;
  /** The exact scope of "always". */
  hint: string;
  isHeld: boolean;
  always: () => void;
}

/** Answers for more than this call, and what was answered so before. */
export function MoreAnswers({ label, hint, isHeld, always }: Props) {
  const t = useText('approval');
  const [isOpen, setOpen] = useState(false);
  const [isListed, setListed] = useState(false);
  const Fold = isOpen ? ChevronUp : ChevronDown;
  return (
    <>
      <Button look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="ml-auto min-h-8.5">{t('more')}<Fold size={14} aria-hidden /></Button>
      {isOpen && (
        <div className="flex w-full flex-wrap items-center gap-2 border-t pt-2">
          <Button aria-keyshortcuts="Alt+Shift+A" aria-disabled={isHeld || undefined} onClick={() => !isHeld && always()} className="max-w-full text-left"><span className="min-w-0 break-words">{label}<span className="block text-xs font-normal text-fg2">{hint}</span></span></Button>
          <Button look="quiet" onClick={() => setListed(true)}>{t('whatIsAllowed')}</Button>
        </div>
      )}
      <GrantsDialog isOpen={isListed} close={() => setListed(false)} />
    </>
  );
}
