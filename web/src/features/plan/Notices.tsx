import { TriangleAlert } from 'lucide-react';
import { Warning } from '@/components/Warning';
import { useText } from '@/i18n';
import type { PlanFileChange } from './notices';

/** The plan's file is not what was approved any more. */
export function StaleNotice({ change }: { change: PlanFileChange }) {
  const t = useText('plan');
  const titles: Record<PlanFileChange, string> = { edited: t('staleEdited'), deleted: t('staleDeleted'), unreadable: t('staleUnreadable') };
  return <Warning icon={<TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />} title={titles[change]} hint={t('staleHint')} />;
}
