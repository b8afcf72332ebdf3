import { FileDiff, FolderTree, Gauge, ListChecks } from 'lucide-react';
import { part } from '@/components/part';
import { TabPanel, Tabs, type Tab } from '@/components/Tabs';
import { useText, withWords } from '@/i18n';
import { useLayout, type PanelTab } from '@/lib/layout';

const PlanPanel = part(() => import('@/features/plan/PlanPanel').then((all) => all.PlanPanel));
const ChangesView = part(() => withWords('beside', import('@/features/changes/ChangesView')).then((all) => all.ChangesView));
const FilesPanel = part(() => withWords('beside', import('@/features/files/FilesPanel')).then((all) => all.FilesPanel));
const ContextPanel = part(() => withWords('beside', import('@/features/context/ContextPanel')).then((all) => all.ContextPanel));

/** Beside the chat: its plan, what it changed, the files, what the model reads. */
export function SidePanel() {
  const t = useText('panel');
  const tab = useLayout((state) => state.panelTab);
  const tabs: Tab<PanelTab>[] = [
    { value: 'plan', label: t('plan'), icon: ListChecks },
    { value: 'changes', label: t('changes'), icon: FileDiff },
    { value: 'files', label: t('files'), icon: FolderTree },
    { value: 'context', label: t('context'), icon: Gauge },
  ];
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-11 shrink-0 items-center justify-between pr-2 pl-4">
        <p aria-hidden className="font-semibold">{t(tab)}</p>
        <Tabs id="panel" label={t('tabs')} tabs={tabs} value={tab} choose={(panelTab) => useLayout.setState({ panelTab })} />
      </div>
      <TabPanel id="panel" value={tab} className="min-h-0 flex-1 overflow-y-auto">
        {tab === 'plan' && <PlanPanel />}
        {tab === 'changes' && <ChangesView />}
        {tab === 'files' && <FilesPanel />}
        {tab === 'context' && <ContextPanel />}
      </TabPanel>
    </div>
  );
}
