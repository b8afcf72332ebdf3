import { FileText } from 'lucide-react';
import { lazy } from 'react';
import { DropDown } from '@/components/DropDown';
import { useText } from '@/i18n';
import { useChatView } from '@/lib/chat/context';

const load = () => import('./FrontmatterPopup');
const Popup = lazy(() => load().then((all) => ({ default: all.FrontmatterPopup })));

/** The YAML frontmatter of the chat's file. */
export function Frontmatter() {
  const t = useText('chat');
  const planFile = useChatView((view) => view.chat.config.plan_file);
  const button = (
    <button type="button" aria-haspopup="dialog" className="flex h-8 max-w-full min-w-0 items-center gap-1.5 rounded-sm px-2 font-mono text-xs text-muted hover:bg-bg hover:text-fg">
      <FileText size={13} aria-hidden className="shrink-0" />
      <span className="truncate">{planFile ?? t('frontmatter')}</span>
    </button>
  );
  return <DropDown load={load} button={button} menu={(trigger) => <Popup button={trigger} />} />;
}
