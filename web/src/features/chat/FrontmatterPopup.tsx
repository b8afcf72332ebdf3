import { Popover } from '@base-ui/react/popover';
import type { ReactElement } from 'react';
import { popupClass, popupRoot } from '@/components/Popup';
import { useText } from '@/i18n';
import { FrontmatterYaml } from './FrontmatterYaml';

/** Loaded when it is first opened, and then open. */
export function FrontmatterPopup({ button }: { button: ReactElement }) {
  const t = useText('chat');
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger render={button} />
      <Popover.Portal container={popupRoot()}>
        <Popover.Positioner sideOffset={6} align="start" className="z-50">
          <Popover.Popup className={`w-[min(30rem,calc(100vw-1rem))] p-3 ${popupClass}`}>
            <Popover.Title className="mb-1 font-semibold">{t('frontmatterHint')}</Popover.Title>
            <FrontmatterYaml />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
