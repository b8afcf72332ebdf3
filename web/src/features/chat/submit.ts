// Sending what was typed; an edited message goes to a chat of its own that begins as this one did.
import { useCallback } from 'react';
import { useLocation } from 'wouter';
import { api } from '@/lib/api/client';
import type { Message } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { attachmentsOf, clearAttachments } from '@/lib/attachments';
import { say } from '@/lib/chat/say';
import { rememberWorkspace } from '@/lib/lastWorkspace';
import { toastError } from '@/lib/toast';
import { useWorkspaces } from '@/lib/workspaces';
import { endEdit } from './editing';

export function useSubmit(draft: string, edited: Message | undefined, done: () => void): () => void {
  const { workspaceId, chatId } = useChatIds();
  const [, navigate] = useLocation();
  const workspaces = useWorkspaces().data;
  return useCallback(() => {
    const attached = attachmentsOf(chatId);
    const finish = () => {
      done();
      clearAttachments(chatId);
    };
    rememberWorkspace(workspaces?.find(({ id }) => id === workspaceId));
    if (!edited) {
      finish();
      void say(workspaceId, chatId, draft, attached).catch(() => undefined);
      return;
    }
    api.fork(workspaceId, chatId, edited.id).then((fork) => {
      endEdit(chatId);
      finish();
      navigate(`/w/${workspaceId}/c/${fork.id}`);
      return say(workspaceId, fork.id, draft, attached).catch(() => undefined);
    }).catch(toastError);
  }, [draft, edited, done, workspaceId, chatId, navigate, workspaces]);
}
