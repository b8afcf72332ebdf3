import { Menu } from '@base-ui/react/menu';
import type { ReactElement } from 'react';
import { popupClass, popupRoot } from '@/components/Popup';
import { RoleItem } from '@/components/RoleItem';
import type { Role, RoleName } from '@/lib/api/types';
import { useRoles } from '@/lib/roles';

/** All roles with what each may do. Loaded when it is first opened, and then open. */
export function NewRolePopup({ button, role, choose }: { button: ReactElement; role: RoleName | undefined; choose: (role: Role) => void }) {
  const roles = useRoles();
  const take = (name: RoleName) => {
    const chosen = roles.find((one) => one.role === name);
    if (chosen) choose(chosen);
  };
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={button} />
      <Menu.Portal container={popupRoot()}>
        <Menu.Positioner sideOffset={6} align="start" className="z-50">
          <Menu.Popup className={`max-h-[80dvh] w-[min(25rem,calc(100vw-1rem))] overflow-y-auto p-1 ${popupClass}`}>
            <Menu.RadioGroup value={role ?? null} onValueChange={take}>
              {roles.map((one) => <RoleItem key={one.role} role={one} isCurrent={one.role === role} />)}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
