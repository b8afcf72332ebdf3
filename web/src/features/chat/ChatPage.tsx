import { Eye } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { OfflineBanner } from '@/components/OfflineBanner';
import { Sheet } from '@/components/Modal';
import { part } from '@/components/part';
import { TrustBanner } from '@/components/TrustBanner';
import { useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { openFind, useFind } from '@/lib/chat/find';
import { focusMainIfLost } from '@/lib/focus';
import { modifier, useShortcuts } from '@/lib/keys';
import { useIsNarrow, useIsWide, useLayout } from '@/lib/layout';
import { useMayChange } from '@/lib/rights';
import { ChatHeader } from './ChatHeader';
import { Composer } from './Composer';
import { PlanRequired, QueueChips, RunStatus } from './Dock';
import { useSlots } from './slots';
import { Suggestion } from './Suggestion';
import { Timeline } from './Timeline';
import { useStopKeys } from './useStopKeys';

const FindBar = part(() => import('./FindBar').then((all) => all.FindBar), null);

/** `ring` and `controls` go into the header, the second only for those who may change something; `toggleMode` is what the mode's keys do. */
export function ChatPage({ ring, controls, toggleMode }: { ring: ReactNode; controls: ReactNode; toggleMode: () => void }) {
  const t = useText('chat');
  const { workspaceId } = useChatIds();
  const { QuestionBar, ProgressDock, SidePanel, Guide } = useSlots();
  const mode = useChatView((view) => view.chat.config.agent_mode);
  const hasPlan = useChatView((view) => view.chat.config.plan_file !== null);
  const isWide = useIsWide();
  const isNarrow = useIsNarrow();
  const chosen = useLayout((state) => state.isPanelOpen);
  const hasCode = useLayout((state) => state.panelTab === 'changes' || state.panelTab === 'files');
  // Where there is room the panel opens with the first plan; elsewhere it covers something, so only when asked for.
  const isPanelOpen = chosen ?? (isWide && hasPlan);
  const setPanel = (isOpen: boolean) => useLayout.setState({ isPanelOpen: isOpen });
  const mayChange = useMayChange(workspaceId);
  useStopKeys();
  useEffect(focusMainIfLost, []);
  useShortcuts({ 'Mod+.': () => void (mayChange && toggleMode()), 'Mod+j': () => setPanel(!isPanelOpen), 'Mod+f': () => openFind() });
  const isFinding = useFind((state) => state.isOpen);
  return (
    <div data-mode={mode} className="flex h-full min-w-0 flex-col">
      <ChatHeader controls={<>{ring}<fieldset disabled={!mayChange} className="contents">{controls}</fieldset></>} togglePanel={() => setPanel(!isPanelOpen)} isPanelOpen={isPanelOpen} />
      <OfflineBanner />
      <TrustBanner workspaceId={workspaceId} />
      <div className="flex min-h-0 flex-1">
        <main id="content" className="flex min-w-0 flex-1 flex-col">
          {isFinding && <FindBar />}
          <Timeline />
          <div className="group/dock mx-auto flex max-h-[70dvh] w-full max-w-3xl shrink-0 flex-col px-4 pb-3 has-data-large:max-h-[calc(100dvh-5rem)] short:max-h-[calc(100dvh-3.25rem)] short:pb-1">
            <fieldset disabled={!mayChange} className="flex min-h-0 min-w-0 flex-col"><Guide /><QuestionBar /></fieldset>
            <div className="short:group-has-[section[data-kind]]/dock:hidden"><ProgressDock /></div>
            {mayChange && <Suggestion />}
            <RunStatus />
            <PlanRequired />
            <QueueChips />
            {mayChange ? <><Composer toggleMode={toggleMode} /><Hints /></> : <ReadOnly />}
          </div>
        </main>
        {isPanelOpen && isWide && (
          <aside aria-label={t('panel')} className={`shrink-0 border-l ${hasCode ? 'w-[min(40rem,40vw)]' : 'w-96'}`}><SidePanel /></aside>
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
  return <p role="note" className="flex items-center gap-2 rounded-lg border border-dashed border-control px-4 py-3 text-muted"><Eye size={16} aria-hidden className="shrink-0" />{t('viewer')}</p>;
}

function Hints() {
  const t = useText('home');
  return (
    <p className="mt-1.5 flex h-4.5 flex-wrap gap-x-4 overflow-hidden px-1 text-xs whitespace-nowrap text-muted pointer-coarse:hidden max-sm:hidden short:hidden">
      <span><kbd>Enter</kbd> {t('keySend')}</span>
      <span><kbd>Shift+Tab</kbd> {t('keyMode')}</span>
      <span><kbd>Esc Esc</kbd> {t('keyStop')}</span>
      <span><kbd>/</kbd> <kbd>@</kbd> {t('keyCommandsShort')}</span>
      <span><kbd>{modifier()}+K</kbd> {t('keyPaletteShort')}</span>
    </p>
  );
}
