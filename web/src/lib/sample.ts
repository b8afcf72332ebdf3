// The demo on the sample workspace.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { api } from '@/lib/api/client';
import { settingsApi } from '@/lib/api/settings';
import type { Chat } from '@/lib/api/types';
import { setGuide } from '@/lib/preferences';
import { toastError } from '@/lib/toast';
import { learnWorkspace } from '@/lib/workspaces';

/** Makes a fresh sample and a chat in it, and goes there, with the guide open. */
export function useTryDemo() {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    mutationFn: async () => {
      const workspace = await settingsApi.makeSample();
      const chat = await api.createChat(workspace.id, { title: 'Demo' });
      return { workspace, chat };
    },
    onSuccess: ({ workspace, chat }) => {
      learnWorkspace(queries, workspace);
      queries.setQueryData<Chat[]>(['chats', workspace.id], (chats = []) => (chats.some((one) => one.id === chat.id) ? chats : [chat, ...chats]));
      setGuide('open');
      navigate(`/w/${workspace.id}/c/${chat.id}`);
    },
    onError: toastError,
  });
}
