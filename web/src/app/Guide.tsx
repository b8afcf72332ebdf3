import { part } from '@/components/part';
import { withWords } from '@/i18n';
import { useChatIds } from '@/lib/chat/context';
import { usePreferences } from '@/lib/preferences';
import { isDemo } from '@/lib/demo';
import { useRules } from '@/lib/workspaces';

const DemoGuide = part(() => withWords('start', import('@/features/guide/DemoGuide')).then((all) => all.DemoGuide), null);

/** The guide, where the model is the demo and nobody closed it. */
export function Guide() {
  const { workspaceId } = useChatIds();
  const rules = useRules(workspaceId);
  const isClosed = usePreferences((state) => state.isGuideClosed);
  return !isClosed && isDemo(rules.data?.plan_model) ? <DemoGuide /> : null;
}
