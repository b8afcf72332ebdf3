import { Popover } from '@base-ui/react/popover';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { CopyButton } from '@/components/CopyButton';
import { popupClass, popupRoot } from '@/components/Popup';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import type { JsonObject } from '@/lib/api/types';
import { useChatIds, useChatView } from '@/lib/chat/context';

/** Loaded when it is first opened, and then open. */
export function FrontmatterPopup({ button }: { button: ReactElement }) {
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger render={button} />
      <Popover.Portal container={popupRoot()}>
        <Popover.Positioner sideOffset={6} align="start" className="z-50">
          <Popover.Popup className={`w-[min(30rem,calc(100vw-1rem))] p-3 ${popupClass}`}>
            <Content />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Content() {
  const t = useText('chat');
  const common = useText('common');
  const { workspaceId, chatId } = useChatIds();
  const role = useChatView((view) => view.chat.config.agent_role);
  const frontmatter = useQuery({ queryKey: ['frontmatter', chatId, role], queryFn: () => api.frontmatter(workspaceId, chatId), staleTime: 0 });
  const yaml = frontmatter.data ? asYaml(frontmatter.data) : '';
  return (
    <>
      <div className="mb-1 flex items-center justify-between">
        <Popover.Title className="font-semibold">{t('frontmatterHint')}</Popover.Title>
        <CopyButton text={yaml} />
      </div>
      <pre tabIndex={0} className="overflow-x-auto rounded-sm bg-surface p-2">{yaml || common('loading')}</pre>
    </>
  );
}

function asYaml(fields: JsonObject): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${typeof value === 'string' && /^[\w/.:-]+$/.test(value) ? value : JSON.stringify(value)}`);
  return ['---', ...lines, '---'].join('\n');
}
