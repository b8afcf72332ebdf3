import { ArrowLeft, PanelRight } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { ConnectionBadge } from '@/components/ConnectionBadge';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import { useFileCount } from '@/lib/chat/changedFiles';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { usePlanVersion } from '@/lib/chat/planVersion';
import { setFaviconMode } from '@/lib/favicon';
import { useIsNarrow } from '@/lib/layout';
import { useMayChange } from '@/lib/rights';
import { useTitleOf } from '@/lib/title';
import { useWorkspaces } from '@/lib/workspaces';
import { ChatMenu } from './ChatMenu';

/** The band over every page of a chat, in the colour of its mode. `controls` is the mode switch; the panel is only beside the chat itself. */
export function ChatHeader({ controls, panel }: { controls: ReactNode; panel?: { toggle: () => void; isOpen: boolean } }) {
  const t = useText('chat');
  const home = useText('home');
  const { workspaceId } = useChatIds();
  const title = useTitleOf()(useChatView((view) => view.chat));
  const mode = useChatView((view) => view.chat.config.agent_mode);
  const workspace = useWorkspaces().data?.find(({ id }) => id === workspaceId)?.name;
  const mayChange = useMayChange(workspaceId);
  const isNarrow = useIsNarrow();
  useEffect(() => setFaviconMode(mode), [mode]);
  useEffect(() => () => setFaviconMode(null), []);
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-2 border-b-2 border-mode bg-mode-soft px-2 max-sm:gap-x-1 sm:flex-nowrap lg:px-4">
      {isNarrow && <Link href="/" aria-label={home('home')} className="inline-flex size-11 shrink-0 items-center justify-center rounded-sm text-fg2"><ArrowLeft size={17} aria-hidden /></Link>}
      <div className="flex min-w-0 items-baseline gap-2 text-base max-sm:flex-1 sm:max-lg:min-w-32">
        {workspace && <><span className="max-w-40 shrink-0 truncate text-fg2 max-lg:hidden">{workspace}</span><span aria-hidden className="text-muted max-lg:hidden">/</span></>}
        <h1 title={title} className="min-w-0 truncate font-semibold">{title}</h1>
      </div>
      <PageTabs />
      <div className="ml-auto flex shrink-0 items-center gap-2 max-sm:gap-0">
        <ConnectionBadge />
        <fieldset disabled={!mayChange} className="contents">{controls}</fieldset>
        {panel && <IconButton label={t('panel')} aria-pressed={panel.isOpen} onClick={panel.toggle} className="aria-pressed:bg-fg/8 max-sm:hidden"><PanelRight size={16} aria-hidden /></IconButton>}
        <ChatMenu {...(panel && { togglePanel: panel.toggle })} />
      </div>
    </header>
  );
}

/** The pages of the chat, with the plan's version and the number of changed files. */
function PageTabs() {
  const t = useText('panel');
  const { workspaceId, chatId } = useChatIds();
  const [location] = useLocation();
  const chat = `/w/${workspaceId}/c/${chatId}`;
  const version = usePlanVersion();
  const files = useFileCount();
  const pages = [
    { to: chat, name: t('chat') },
    { to: `${chat}/plan`, name: t('plan'), aside: version === null ? '' : t('version', { revision: version }) },
    { to: `${chat}/changes`, name: t('changes'), aside: files === 0 ? '' : String(files) },
    { to: `${chat}/timeline`, name: t('timeline') },
  ];
  return (
    <nav aria-label={t('pages')} className="flex min-w-0 gap-5 self-end px-4 max-sm:order-last max-sm:w-full max-sm:px-3">
      {pages.map(({ to, name, aside = '' }) => (
        <Link key={to} href={to} aria-current={location === to ? 'page' : undefined} className="-mb-px flex h-11 items-center border-b-3 border-transparent pt-0.5 text-sm text-fg2 hover:text-fg aria-[current]:border-fg aria-[current]:font-semibold aria-[current]:text-fg max-sm:h-10">{name}{aside !== '' && <span className="ml-1.5 text-xs font-normal text-muted tabular-nums">{aside}</span>}</Link>
      ))}
    </nav>
  );
}
