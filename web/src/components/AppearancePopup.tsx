import { Menu } from '@base-ui/react/menu';
import { useQueryClient } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import type { ReactElement } from 'react';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import type { Me } from '@/lib/api/types';
import { toastError } from '@/lib/toast';
import { AppearanceItems } from './AppearanceItems';
import { itemClass, popupClass, popupRoot } from './Popup';

/** Loaded when it is first opened, and then open. */
export function AppearancePopup({ button }: { button: ReactElement }) {
  const t = useText('signin');
  const queries = useQueryClient();
  const me = queries.getQueryData<Me>(['me']);
  const signOut = () => void api.logout().then(() => queries.resetQueries(), toastError);
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={button} />
      <Menu.Portal container={popupRoot()}>
        <Menu.Positioner side="top" align="start" sideOffset={6} className="z-50">
          <Menu.Popup className={`min-w-44 p-1 ${popupClass}`}>
            <AppearanceItems isFirst />
            {me?.auth !== 'off' && (
              <>
                <Menu.Separator className="my-1 h-px bg-line" />
                <Menu.Item className={itemClass} onClick={signOut}><LogOut size={14} aria-hidden />{t('signOut')}</Menu.Item>
              </>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
