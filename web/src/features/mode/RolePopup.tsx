import { Menu } from '@base-ui/react/menu';
import type { ReactElement } from 'react';
import { popupClass, popupRoot } from '@/components/Popup';
import { RoleItem } from '@/components/RoleItem';
import type { RoleName } from '@/lib/api/types';
import { useChatView } from '@/lib/chat/context';
import { useRoles } from '@/lib/roles';
import { useSwitch } from './switching';

/** All roles with what each may do. Loaded when it is first opened, and then open. */
export function RolePopup({ button }: { button: ReactElement }) {
  const current = useChatView((view) => view.chat.config.agent_role);
  const request = useSwitch();
  const roles = useRoles();
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={button} />
      <Menu.Portal container={popupRoot()}>
        <Menu.Positioner side="top" sideOffset={6} align="start" className="z-50">
          <Menu.Popup className={`w-[min(25rem,calc(100vw-1rem))] max-h-[80dvh] overflow-y-auto p-1 ${popupClass}`}>
            <Menu.RadioGroup value={current} onValueChange={(role: RoleName) => void request({ agent_role: role })}>
              {roles.map((role) => <RoleItem key={role.role} role={role} isCurrent={role.role === current} />)}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
