import { Eye } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { OfflineBanner } from '@/components/OfflineBanner';
import { Sheet } from '@/components/Modal';
import { PaneHandle } from '@/components/PaneHandle';
import { part } from '@/components/part';
import { TrustBanner } from '@/components/TrustBanner';
import { useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { openFind, useFind } from '@/lib/chat/find';
import { focusMainIfLost } from '@/lib/focus';
import { useShortcuts } from '@/lib/keys';
import { useIsNarrow, useIsPanelOpen, useIsWide, useLayout } from '@/lib/layout';
import { useWidth } from '@/lib/panes';
import { useMayChange } from '@/lib/rights';
import { useWorkspaces } from '@/lib/workspaces';
import { ChatHeader } from './ChatHeader';
import { Composer } from './Composer';
import { PlanRequired, QueueChips, RunStatus } from './Dock';
import { useSlots } from './slots';
import { Suggestion } from './Suggestion';
import { Timeline } from './Timeline';
import { useStopKeys } from './useStopKeys';

const FindBar = part(() => import('./FindBar').then((all) => all.FindBar), null);

/** `mode` goes into the header, `role`, `chips` and `ring` into the composer; `toggleMode` is what the mode's keys do. */
export function ChatPage({ mode: modeSwitch, role, chips, ring, toggleMode }: { mode: ReactNode; role: ReactNode; chips: ReactNode; ring: ReactNode; toggleMode: () => void }) {
  const t = useText('chat');
  const { workspaceId } = useChatIds();
  const { QuestionBar, ProgressDock, SidePanel, Guide } = useSlots();
  const mode = useChatView((view) => view.chat.config.agent_mode);
  const hasPlan = useChatView((view) => view.chat.config.plan_file !== null);
  const isWide = useIsWide();
  const isNarrow = useIsNarrow();
  const hasCode = useLayout((state) => state.panelTab === 'changes' || state.panelTab === 'files');
  const width = useWidth(hasCode ? 'code' : 'panel');
  const isPanelOpen = useIsPanelOpen(hasPlan);
  const setPanel = (isOpen: boolean) => useLayout.setState({ isPanelOpen: isOpen });
  const mayChange = useMayChange(workspaceId);
  useStopKeys();
  useEffect(focusMainIfLost, []);
  useShortcuts({ 'Mod+.': () => void (mayChange && toggleMode()), 'Mod+j': () => setPanel(!isPanelOpen), 'Mod+f': () => openFind() });
  const isFinding = useFind((state) => state.isOpen);
  return (
    <div data-mode={mode} className="flex h-full min-w-0 flex-col">
      <ChatHeader controls={modeSwitch} panel={{ toggle: () => setPanel(!isPanelOpen), isOpen: isPanelOpen }} />
      <OfflineBanner />
      <TrustBanner workspaceId={workspaceId} />
      <div className="flex min-h-0 flex-1">
        <main id="content" className="flex min-w-0 flex-1 flex-col">
          {isFinding && <FindBar />}
          <Timeline />
          <div className="group/dock mx-auto flex max-h-[70dvh] w-full max-w-186 shrink-0 flex-col px-4 pb-4 has-data-large:max-h-[calc(100dvh-5rem)] short:max-h-[calc(100dvh-3.25rem)] short:pb-1">
            <fieldset disabled={!mayChange} className="flex min-h-0 min-w-0 flex-col"><Guide /><QuestionBar /></fieldset>
            <div className="short:group-has-[section[data-kind]]/dock:hidden"><ProgressDock /></div>
            {mayChange && <Suggestion />}
            <RunStatus />
            <PlanRequired />
            <QueueChips />
            {mayChange ? <Composer toggleMode={toggleMode} role={role} chips={chips} ring={ring} /> : <ReadOnly />}
          </div>
        </main>
        {isPanelOpen && isWide && (
          <aside aria-label={t('panel')} style={{ width }} className="relative max-w-[50vw] shrink-0 border-l"><PaneHandle pane={hasCode ? 'code' : 'panel'} side="left" /><SidePanel /></aside>
        )}
        {!isWide && (
          <Sheet isOpen={isPanelOpen} close={() => setPanel(false)} title={t('panel')} side={isNarrow ? 'bottom' : 'right'}><SidePanel /></Sheet>
        )}
      </div>
    </div>
  );
}

/** In place of the composer, for those who may only look. */
function ReadOnly() {
  const t = useText('workspace');
  const { workspaceId } = useChatIds();
  const workspace = useWorkspaces().data?.find(({ id }) => id === workspaceId)?.name ?? '';
  return <p role="note" className="flex items-center gap-2 rounded-md bg-sunken px-4 py-2.5 text-fg2"><Eye size={15} aria-hidden className="shrink-0" />{t('viewer', { workspace })}</p>;
}
