import { Zap } from 'lucide-react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { useChatActions, useChatView } from '@/lib/chat/context';
import { toastError } from '@/lib/toast';

/** The user's words sounded like an order to execute; one click makes them one. */
export function Suggestion() {
  const t = useText('chat');
  const { execute } = useChatActions();
  const isShown = useChatView((view) => view.suggestion !== null && view.question === null && view.chat.config.plan_file !== null);
  if (!isShown) return null;
  return (
    <div data-mode="act" className="mb-2 flex items-center gap-3 rounded-lg border border-mode-line px-3 py-2">
      <Zap size={16} aria-hidden className="shrink-0 text-mode" />
      <span className="min-w-0 flex-1">{t('suggestion')}</span>
      <Button look="primary" onClick={() => void execute().catch(toastError)}>{t('execute')}</Button>
    </div>
  );
}
