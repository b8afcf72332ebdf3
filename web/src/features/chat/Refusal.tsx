import { CircleAlert } from 'lucide-react';
import { useText } from '@/i18n';
import type { Problem } from '@/lib/api/types';
import { useExplain } from '@/lib/problems';

/** Why the server did not take what the composer has. */
export function Refusal({ problem }: { problem: Problem }) {
  const t = useText('chat');
  const { title, detail } = useExplain()(problem);
  return (
    <div role="alert" className="flex gap-2 border-b px-3.5 py-2 text-sm">
      <CircleAlert size={15} aria-hidden className="mt-0.5 shrink-0 text-critical" />
      <p className="min-w-0 break-words"><span className="font-semibold">{t('notSent')}</span>{t('sentenceEnd')}{title}{detail && <span className="block text-fg2">{detail}</span>}</p>
    </div>
  );
}
