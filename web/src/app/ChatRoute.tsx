import { useEffect } from 'react';
import { ChatPage } from '@/features/chat/ChatPage';
import { ChatSlotsProvider, type ChatSlots } from '@/features/chat/slots';
import { TextMessage } from '@/features/chat/TextMessage';
import { ToolCallCard } from '@/features/chat/ToolCallCard';
import { ToolResultCard } from '@/features/chat/ToolResultCard';
import { PlanMessageCard } from '@/features/plan/PlanMessageCard';
import { PlanPanel } from '@/features/plan/PlanPanel';
import { QuestionBar } from '@/features/question/QuestionBar';
import { QuestionMessageCard } from '@/features/question/QuestionMessageCard';
import { ToolApproval } from '@/features/question/ToolApproval';
import { useText } from '@/i18n';
import { ChatProvider } from '@/lib/chat/context';
import { loadChat, useChatStore } from '@/lib/chat/store';
import { followChat } from '@/lib/events/follow';

const SLOTS: ChatSlots = {
  cards: { text: TextMessage, plan: PlanMessageCard, question: QuestionMessageCard, tool_call: ToolCallCard, tool_result: ToolResultCard },
  QuestionBar,
  PlanPanel,
  ToolApproval,
};

export function ChatRoute({ workspaceId, chatId }: { workspaceId: string; chatId: string }) {
  const t = useText('common');
  const isLoaded = useChatStore((state) => chatId in state.views);
  useEffect(() => {
    const stop = new AbortController();
    void loadChat(workspaceId, chatId).then((seq) => followChat(workspaceId, chatId, seq, stop.signal));
    return () => stop.abort();
  }, [workspaceId, chatId]);
  if (!isLoaded) return <p>{t('loading')}</p>;
  return (
    <ChatProvider workspaceId={workspaceId} chatId={chatId}>
      <ChatSlotsProvider value={SLOTS}>
        <ChatPage />
      </ChatSlotsProvider>
    </ChatProvider>
  );
}
