import { Minimize2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '@/components/Button';
import { Failed } from '@/components/Failed';
import { Skeleton } from '@/components/Skeleton';
import { useLocale, useText } from '@/i18n';
import { api } from '@/lib/api/client';
import type { Context, ContextPart } from '@/lib/api/types';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { useChatStore } from '@/lib/chat/store';
import { isInProgress } from '@/lib/chat/view';
import { count, money, percent } from '@/lib/number';
import { useMayChange } from '@/lib/rights';
import { toastError } from '@/lib/toast';
import { Ring } from './Ring';
import { estimated, shareOf, usedOf } from './fullness';
import { useContextOf } from './useContextOf';

/** By part, in the order in which they are sent. */
const COLOURS: Record<ContextPart['part'], string> = {
  prompt: 'var(--chart-1)', tools: 'var(--chart-8)', instructions: 'var(--chart-2)', plan: 'var(--chart-3)', summary: 'var(--chart-4)', words: 'var(--fg)', replies: 'var(--chart-5)',
  calls: 'var(--chart-6)', results: 'var(--chart-7)',
};

/** What is in the model's context, what it cost so far, and a way to make it shorter. */
export function ContextPanel() {
  const context = useContextOf();
  if (context.error) return <Failed error={context.error} retry={() => void context.refetch()} />;
  if (!context.data) return <Skeleton />;
  return <Shown context={context.data} />;
}

function Shown({ context }: { context: Context }) {
  const t = useText('context');
  const locale = useLocale((state) => state.locale);
  const { tokens, isEstimated } = usedOf(context);
  const share = shareOf(tokens, context.limit);
  return (
    <section aria-label={t('title')} className="flex flex-col gap-5 p-4">
      <div className="flex items-center gap-4">
        <Ring share={share} size={64} />
        <div className="min-w-0">
          <p className="text-2xl font-semibold tabular-nums">{context.limit === null ? count(locale, tokens) : percent(locale, share)}</p>
          <p className="text-sm text-muted tabular-nums">{context.limit === null ? t('tokens', { used: count(locale, tokens) }) : t('ofLimit', { used: count(locale, tokens), limit: count(locale, context.limit) })}{isEstimated && ` · ${t('estimated')}`}</p>
          <p className="truncate font-mono text-xs text-muted">{context.model ?? t('noModel')}</p>
        </div>
      </div>
      <Parts context={context} />
      <Spent />
      <Compact context={context} />
    </section>
  );
}

function Parts({ context }: { context: Context }) {
  const t = useText('context');
  const locale = useLocale((state) => state.locale);
  const all = estimated(context.parts);
  return (
    <div>
      <h3 className="font-semibold">{t('parts')}</h3>
      <p className="mb-2 text-sm text-muted">{t('partsHint')}</p>
      <div aria-hidden className="mb-2 flex h-2.5 overflow-hidden rounded-full bg-surface">
        {context.parts.map(({ part, tokens }) => <div key={part} style={{ width: `${(tokens / Math.max(all, 1)) * 100}%`, background: COLOURS[part] }} />)}
      </div>
      <table className="w-full text-sm">
        <thead className="sr-only"><tr><th scope="col">{t('part')}</th><th scope="col">{t('count')}</th><th scope="col">{t('tokensEstimated')}</th></tr></thead>
        <tbody>
          {context.parts.map(({ part, tokens, count: many }) => (
            <tr key={part} className="border-t first:border-t-0">
              <th scope="row" className="py-1 text-left font-normal"><span aria-hidden className="mr-2 inline-block size-2.5 rounded-xs" style={{ background: COLOURS[part] }} />{t(part)}</th>
              <td className="px-2 text-right text-muted tabular-nums">{many > 1 && `× ${count(locale, many)}`}</td>
              <td className="text-right tabular-nums">{count(locale, tokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Spent() {
  const t = useText('context');
  const locale = useLocale((state) => state.locale);
  const usage = useChatView((view) => view.chat.usage);
  const rows: [string, string][] = [
    [t('input'), count(locale, usage.input_tokens)],
    [t('cached'), count(locale, usage.cached_tokens)],
    [t('output'), count(locale, usage.output_tokens)],
    [t('cost'), money(locale, usage.cost)],
  ];
  return (
    <div>
      <h3 className="mb-1 font-semibold">{t('spent')}</h3>
      <dl className="text-sm">
        {rows.map(([name, value]) => <div key={name} className="flex justify-between border-t py-1 first:border-t-0"><dt className="text-muted">{name}</dt><dd className="tabular-nums">{value}</dd></div>)}
      </dl>
      {usage.cost === 0 && usage.input_tokens > 0 && <p className="text-xs text-muted">{t('noPrice')}</p>}
    </div>
  );
}

function Compact({ context }: { context: Context }) {
  const t = useText('context');
  const { workspaceId, chatId } = useChatIds();
  const mayChange = useMayChange(workspaceId);
  const isBusy = useChatView(isInProgress);
  const isAsking = useChatView(({ question }) => question !== null);
  const isOffline = useChatStore((state) => state.connection === 'offline');
  const [isAsked, setAsked] = useState(false);
  const why = !mayChange ? t('readOnly') : isOffline ? t('offline') : isAsking ? t('waiting') : isBusy ? t('busy') : !context.can_compact ? t('nothingToSumUp') : null;
  const compact = () => {
    setAsked(true);
    void api.compact(workspaceId, chatId).catch(toastError).finally(() => setAsked(false));
  };
  return (
    <div>
      <h3 className="font-semibold">{t('compactTitle')}</h3>
      <p className="mb-2 text-sm text-muted">{t('compactHint')}</p>
      <Button disabled={why !== null || isAsked} onClick={compact}><Minimize2 size={14} aria-hidden />{t('compact')}</Button>
      {why && <p className="mt-1 text-sm text-muted">{why}</p>}
    </div>
  );
}
