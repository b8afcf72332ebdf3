import { useQuery } from '@tanstack/react-query';
import { api, ApiError } from '@/lib/api/client';
import { useChatIds } from '@/lib/chat/context';
import type { Present } from './change';

/** A file as it is while the question waits; nothing until that is known. */
export function usePresent(path: string, question: string): Present | undefined {
  const { workspaceId } = useChatIds();
  const found = useQuery({ queryKey: ['present', workspaceId, path, question], queryFn: () => look(workspaceId, path), staleTime: Infinity, retry: false });
  return found.data ?? (found.isError ? { state: 'unknown' } : undefined);
}

async function look(workspace: string, path: string): Promise<Present> {
  try {
    const { content } = await api.fileContent(workspace, path);
    return content === null ? { state: 'noText' } : { state: 'text', content };
  } catch (reason) {
    if (reason instanceof ApiError && reason.status === 404) return { state: 'absent' };
    throw reason;
  }
}
