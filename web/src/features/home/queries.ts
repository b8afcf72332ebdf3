// Workspaces and their chats.
import { useMutation, useQueries, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { api } from '@/lib/api/client';
import { inboxApi } from '@/lib/api/inbox';
import type { Chat, Effort, RoleName, Workspace } from '@/lib/api/types';
import { clearAttachments, type Attachment } from '@/lib/attachments';
import { say } from '@/lib/chat/say';
import { NEW_CHAT, putDraft } from '@/lib/drafts';
import { rememberWorkspace } from '@/lib/lastWorkspace';
import { useLayout } from '@/lib/layout';
import { toastError } from '@/lib/toast';
import { useWorkspaces } from '@/lib/workspaces';

export interface WorkspaceChats {
  workspace: Workspace;
  chats: Chat[];
}

const newestFirst = (chats: Chat[]) => chats.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at));

/** All chats, by workspace; each list newest first. */
export function useChatLists() {
  const workspaces = useWorkspaces();
  const rows = workspaces.data ?? [];
  const lists = useQueries({ queries: rows.map(({ id }) => ({ queryKey: ['chats', id], queryFn: () => api.chats(id) })) });
  return {
    lists: rows.map((workspace, index): WorkspaceChats => ({ workspace, chats: newestFirst(lists[index]?.data ?? []) })),
    isLoading: workspaces.isLoading || lists.some((list) => list.isLoading),
    error: workspaces.error ?? lists.find((list) => list.error)?.error ?? null,
    refetch: () => void Promise.all([workspaces.refetch(), ...lists.map((list) => list.refetch())]),
  };
}

interface NewChat {
  workspace: string;
  content?: string;
  role?: RoleName;
  attached?: Attachment[];
  /** The model and effort that the user picked, if they did. */
  choice?: { model: string | null; effort: Effort | null };
}

/** Makes a chat, says the first words in it if there are any, and goes there. */
export function useNewChat() {
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ workspace, content = '', role, attached = [], choice }: NewChat) => {
      const chat = await inboxApi.createChat(workspace, role);
      // A chat that can't be as it was wanted is none: what was typed is still at home.
      if (choice) await api.changeChat(workspace, chat.id, choice).catch((reason: unknown) => api.deleteChat(workspace, chat.id).then(() => Promise.reject(reason)));
      if (content || attached.length > 0) {
        putDraft(NEW_CHAT, { text: '' });
        clearAttachments(NEW_CHAT);
        void say(workspace, chat.id, content, attached).catch(() => undefined);
      }
      return chat;
    },
    onSuccess: (chat) => {
      rememberWorkspace(queries.getQueryData<Workspace[]>(['workspaces'])?.find(({ id }) => id === chat.workspace_id));
      // Its event may have arrived first.
      queries.setQueryData<Chat[]>(['chats', chat.workspace_id], (chats = []) => (chats.some((one) => one.id === chat.id) ? chats : [chat, ...chats]));
      useLayout.setState({ isDrawerOpen: false });
      navigate(`/w/${chat.workspace_id}/c/${chat.id}`);
    },
    onError: toastError,
  });
}
