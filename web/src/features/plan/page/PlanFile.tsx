import type { MouseEvent } from 'react';
import { breakable } from '@/components/FileLink';
import { useText } from '@/i18n';
import { useChatIds } from '@/lib/chat/context';
import { shownName } from '@/lib/marks';
import { useReview } from './review';
import { isGlob, pathKey } from './scope';

const SIGNS = { new: '+', changed: '~' } as const;

/** A file that a step names: opens its preview. A glob names many, and opens none. */
export function PlanFile({ path }: { path: string }) {
  const t = useText('planPage');
  const { workspaceId, chatId } = useChatIds();
  const { signOf, preview } = useReview();
  const sign = signOf(path);
  const words = { new: t('newFile'), changed: t('changedFile') };
  const shown = path.replace(/^\//, '');
  const show = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    preview(pathKey(path));
  };
  const address = `/w/${workspaceId}/c/${chatId}?${new URLSearchParams({ file: pathKey(path) })}`;
  return (
    <code className="flex max-w-full min-w-0 items-center gap-1.5 text-[11.5px] text-fg pointer-coarse:min-h-8">
      {sign !== null && <span role="img" aria-label={words[sign]} className={`font-semibold ${sign === 'new' ? 'text-act' : 'text-fg2'}`}>{SIGNS[sign]}</span>}
      {isGlob(path) ? <span className="plan-path min-w-0">{breakable(shownName(shown))}</span> : <a href={address} onClick={show} className="plan-path min-w-0 underline underline-offset-3 hover:decoration-fg">{breakable(shownName(shown))}</a>}
    </code>
  );
}
