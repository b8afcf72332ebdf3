import { Tip } from '@/components/Tip';
import { useLocale, useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';
import { openPanel } from '@/lib/layout';
import { count, money, percent } from '@/lib/number';
import { Ring } from './Ring';
import { shareOf } from './fullness';
import { useRoom } from './useContextOf';

/** How full the model's context is; opens the panel that tells what fills it. */
export function ContextRing() {
  const t = useText('panel');
  const locale = useLocale((state) => state.locale);
  const usage = useChatView((view) => view.chat.usage);
  const limit = useRoom();
  if (limit === null) return null;
  const share = shareOf(usage.context_tokens, limit);
  const tip = t('ringHint', { used: count(locale, usage.context_tokens), limit: count(locale, limit), cost: money(locale, usage.cost) });
  return (
    <Tip text={tip}>
      <button type="button" aria-label={t('ring', { share: percent(locale, share) })} onClick={() => openPanel('context')} className="flex h-7.5 shrink-0 items-center gap-1.5 rounded-sm px-2 text-fg2 hover:bg-fg/8 hover:text-fg max-sm:hidden">
        <Ring share={share} size={15} />
        <span className="@max-2xl:sr-only">{percent(locale, share)}</span>
      </button>
    </Tip>
  );
}
