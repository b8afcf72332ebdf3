import { useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';

export function PlanPanel() {
  const t = useText('plan');
  const file = useChatView((view) => view.chat.config.plan_file);
  return <p>{file ?? t('title')}</p>;
}
