import { Menu } from '@base-ui/react/menu';
import type { ReactElement } from 'react';
import { AppearanceItems } from './AppearanceItems';
import { popupClass, popupRoot } from './Popup';

/** Loaded when it is first opened, and then open. */
export function AppearancePopup({ button }: { button: ReactElement }) {
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={button} />
      <Menu.Portal container={popupRoot()}>
        <Menu.Positioner side="top" align="start" sideOffset={6} className="z-50">
          <Menu.Popup className={`min-w-44 p-1 ${popupClass}`}><AppearanceItems isFirst /></Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
