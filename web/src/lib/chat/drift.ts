// Files that a plan names and that are not as it found them: looked at before it is approved.
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

/** Of the plan with this content, as long as it may still be approved. */
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
    /** As it is at this moment; nothing where that can't be said. */
    look: async (): Promise<DriftedFile[]> => (await found.refetch()).data ?? [],
  };
}
