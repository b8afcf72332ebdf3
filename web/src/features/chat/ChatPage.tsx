import { useChatView } from '@/lib/chat/context';
import { useSlots } from './slots';

export function ChatPage() {
  const { cards, QuestionBar, PlanPanel } = useSlots();
  const messages = useChatView((view) => view.messages);
  const config = useChatView((view) => view.chat.config);
  return (
    <div data-mode={config.agent_mode} className="flex h-full">
      <main className="mx-auto w-full max-w-3xl overflow-y-auto p-4">
        {messages.map((message) => {
          const Card = cards[message.message_type];
          return <Card key={message.id} message={message} />;
        })}
        <QuestionBar />
      </main>
      <aside className="w-80 border-l p-4">
        <PlanPanel />
      </aside>
    </div>
  );
}
