// The roles as the server describes them: names, colours, icons and permissions.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useText } from '@/i18n';
import { api } from './api/client';
import type { Role, RoleName } from './api/types';

export const ROLES = { queryKey: ['roles'], queryFn: api.roles, staleTime: Infinity };
const NONE: Role[] = [];

/** In display order; empty until they are loaded. */
export const useRoles = (): Role[] => useQuery(ROLES).data ?? NONE;

interface RoleWords {
  title: (role: RoleName) => string;
  description: (role: RoleName) => string;
}

/** What roles are called: in the server's words, or their translation where the language has one. */
export function useRoleWords(): RoleWords {
  const roles = useRoles();
  const t = useText('roles') as (key: string) => string;
  return useMemo(() => {
    const words = (role: RoleName, key: string, served: 'title' | 'description') => (t(key) === key ? (roles.find((one) => one.role === role)?.[served] ?? '') : t(key));
    return { title: (role) => words(role, role, 'title'), description: (role) => words(role, `${role}Hint`, 'description') };
  }, [roles, t]);
}
