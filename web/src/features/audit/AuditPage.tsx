import { useQuery } from '@tanstack/react-query';
import { RefreshCw, ShieldCheck } from 'lucide-react';
import { Empty } from '@/components/Empty';
import { Failed } from '@/components/Failed';
import { IconButton } from '@/components/IconButton';
import { Page } from '@/components/Page';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import { AdherenceChart } from './AdherenceChart';
import { Charts } from './Charts';
import { Filters } from './Filters';
import { LogTable } from './LogTable';
import { Tiles } from './Tiles';
import { useChats, useFilter } from './useFilter';

/** How models and users behaved: charts over time, and what was logged. */
export function AuditPage() {
  const t = useText('audit');
  const state = useFilter();
  const { filter, shown, kind, set } = state;
  const counts = useQuery({ queryKey: ['audit', 'counts', filter], queryFn: () => api.auditCounts(filter, -new Date().getTimezoneOffset()) });
  const adherence = useQuery({ queryKey: ['audit', 'adherence', filter], queryFn: () => api.adherence(filter) });
  const chats = useChats(state.values.workspace);
  const failed = counts.error ?? adherence.error;
  const refetch = () => void Promise.all([counts.refetch(), adherence.refetch()]);
  return (
    <Page title={t('title')} actions={<IconButton label={t('refresh')} onClick={refetch}><RefreshCw size={16} aria-hidden /></IconButton>}>
      <div className="mx-auto flex w-full max-w-6xl flex-col gap-4 p-4">
        <p className="text-muted">{t('hint')}</p>
        <Filters state={state} chats={chats} models={[...new Set((counts.data ?? []).map((one) => one.model).filter(Boolean))].sort()} />
        {failed ? (
          <Failed error={failed} retry={refetch} />
        ) : !counts.data || !adherence.data ? (
          <Skeleton rows={8} className="px-0" />
        ) : counts.data.length === 0 && adherence.data.length === 0 ? (
          <Empty icon={<ShieldCheck size={24} aria-hidden />} title={t('empty')} hint={state.isFiltered ? t('emptyFiltered') : t('emptyHint')} />
        ) : (
          <>
            <Tiles counts={counts.data} adherence={adherence.data} />
            <Charts counts={counts.data} days={shown} />
            <AdherenceChart rows={adherence.data} />
            <LogTable key={JSON.stringify([filter, kind])} filter={filter} kind={kind} setKind={(value) => set('kind', value)} chats={chats.chats} />
          </>
        )}
      </div>
    </Page>
  );
}
