import { CircleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { Button, buttonClass } from '@/components/Button';
import { Notice } from '@/components/Notice';
import { LOADING, part } from '@/components/part';
import { ChatPage } from '@/features/chat/ChatPage';
import { ChatSkeleton } from '@/components/ChatSkeleton';
import { ChatSlotsProvider, type ChatSlots } from '@/features/chat/slots';
import { TextMessage } from '@/features/chat/TextMessage';
import { ToolCallCard } from '@/features/chat/ToolCallCard';
import { ToolResultCard } from '@/features/chat/ToolResultCard';
import { markSeen } from '@/features/home/seen';
import { ContextRing } from '@/features/context/ContextRing';
import { ModeToggle } from '@/features/mode/ModeToggle';
import { RoleMenu } from '@/features/mode/RoleMenu';
import { useToggleMode } from '@/features/mode/switching';
import { ProgressDock } from '@/features/plan/ProgressDock';
import { QuestionBar } from '@/features/question/QuestionBar';
import { QuestionMessageCard } from '@/features/question/QuestionMessageCard';
import { Skeleton } from '@/components/Skeleton';
import { useText, withWords } from '@/i18n';
import { ApiError } from '@/lib/api/client';
import { ChatProvider, useChatIds, useChatView } from '@/lib/chat/context';
import { useRevert } from '@/lib/chat/revert';
import { useChatStore } from '@/lib/chat/store';
import { openChat } from '@/lib/events/bridge';
import { useProblemLine } from '@/lib/problems';
import { useTitleOf } from '@/lib/title';
import { ChatSubPage } from './ChatSubPage';
import { Guide } from './Guide';
import { NotFound } from './NotFound';
import { SidePanel } from './SidePanel';
import { useChatAnnouncements } from './announcements';
import { useChatCommands } from './useChatCommands';
import { useAddress } from './useAddress';

const AttachButton = part(() => import('@/components/AttachButton').then((all) => all.AttachButton), LOADING);
const ChatModelChips = part(() => import('@/features/chat/ChatModelChips').then((all) => all.ChatModelChips), LOADING);
const PlanMessageCard = part(() => import('@/features/plan/PlanMessageCard').then((all) => all.PlanMessageCard), <Skeleton rows={2} />);

const SLOTS: ChatSlots = {
  cards: { text: TextMessage, plan: PlanMessageCard, question: QuestionMessageCard, tool_call: ToolCallCard, tool_result: ToolResultCard },
  QuestionBar,
  ProgressDock,
  SidePanel,
  Guide,
};

const PlanRoute = part(() => withWords('planPage', import('./PlanRoute')).then((all) => all.PlanRoute));
const ChangesPage = part(() => withWords('review', import('@/features/changes/page/ChangesPage')).then((all) => all.ChangesPage));
const TimelineView = part(() => withWords('beside', import('@/features/timeline/TimelineView')).then((all) => all.TimelineView));
const LeaveActDialog = part(() => import('@/features/mode/LeaveActDialog').then((all) => all.LeaveActDialog), null);
const RevertDialog = part(() => import('@/features/changes/RevertDialog').then((all) => all.RevertDialog), null);

/** The pages of a chat, by the last part of their address. */
const PAGES = ['chat', 'plan', 'changes', 'timeline'];

/** A chat by its address: loads and follows it, and puts the features together. */
export function ChatRoute({ workspaceId, chatId, shown = 'chat' }: { workspaceId: string; chatId: string; shown?: string | undefined }) {
  const isLoaded = useChatStore((state) => chatId in state.views);
  const [attempt, setAttempt] = useState(0);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => openChat(workspaceId, chatId, setError), [workspaceId, chatId, attempt]);
  if (error instanceof ApiError && [400, 404, 422].includes(error.status)) return <NotFound />;
  if (error && !isLoaded) {
    const retry = () => {
      setError(null);
      setAttempt(attempt + 1);
    };
    return (
      <main id="content" className="flex h-full">
        <NotLoaded error={error} retry={retry} />
      </main>
    );
  }
  if (!isLoaded) return <ChatSkeleton />;
  return (
    <ChatProvider key={chatId} workspaceId={workspaceId} chatId={chatId}>
      <ChatSlotsProvider value={SLOTS}>
        <Loaded shown={shown} />
      </ChatSlotsProvider>
    </ChatProvider>
  );
}

function NotLoaded({ error, retry }: { error: unknown; retry: () => void }) {
  const t = useText('common');
  const lineOf = useProblemLine();
  return (
    <Notice icon={<CircleAlert size={24} aria-hidden />} title={t('failed')} hint={lineOf(error) ?? ''}>
      <Button look="primary" onClick={retry}>{t('retry')}</Button>
      <Link href="/" className={buttonClass('secondary')}>{t('toHome')}</Link>
    </Notice>
  );
}

function Loaded({ shown }: { shown: string }) {
  const { chatId } = useChatIds();
  const toggleMode = useToggleMode();
  const title = useTitleOf()(useChatView((view) => view.chat));
  const updatedAt = useChatView((view) => view.chat.updated_at);
  const isDeleted = useChatView((view) => view.isDeleted);
  const t = useText('panel');
  const isReverting = useRevert((state) => state.from !== null);
  useChatAnnouncements();
  useChatCommands();
  useAddress(shown === 'chat');
  useEffect(() => { if (shown === 'chat') document.title = `${title} · Planwright`; }, [title, shown]);
  useEffect(() => markSeen(chatId, updatedAt), [chatId, updatedAt]);
  if (isDeleted || !PAGES.includes(shown)) return <NotFound />;
  return (
    <>
      {shown === 'chat' && <ChatPage mode={<ModeToggle />} role={<RoleMenu />} chips={<><ChatModelChips /><AttachButton draft={chatId} /></>} ring={<ContextRing />} toggleMode={toggleMode} />}
      {shown === 'plan' && <PlanRoute />}
      {shown === 'changes' && <ChatSubPage title={t('changes')}><ChangesPage /></ChatSubPage>}
      {shown === 'timeline' && <ChatSubPage title={t('timeline')}><TimelineView /></ChatSubPage>}
      <LeaveActDialog />
      {isReverting && <RevertDialog />}
    </>
  );
}
