// Files of a plan that changed since it was written, checked before its approval.
import { useQuery } from '@tanstack/react-query';
import { api } from '@/lib/api/client';
import { useChatIds } from './context';

export interface DriftedFile {
  path: string;
  change: 'new' | 'changed' | 'deleted';
}

export function isDrifted(file: unknown): file is DriftedFile {
  return typeof file === 'object' && file !== null && typeof (file as DriftedFile).path === 'string';
}

/** For the plan with this content, while it can still be approved. */
export function useDrift(sha256: string, isOpen: boolean) {
  const { workspaceId, chatId } = useChatIds();
  const found = useQuery({
    queryKey: ['drift', chatId, sha256],
    queryFn: async () => (await api.drift(workspaceId, chatId)).files.filter(isDrifted),
    enabled: isOpen,
    staleTime: 0,
    refetchOnWindowFocus: true,
  });
  return {
    files: isOpen ? (found.data ?? []) : [],
    /** The current drift; nothing if it is unknown. */
    look: async (): Promise<DriftedFile[]> => (await found.refetch()).data ?? [],
  };
}
