// Changing a chat's mode or role. The server decides; the page flips when its event comes.
import { useCallback } from 'react';
import { create } from 'zustand';
import { api, ApiError, type ChatChange } from '@/lib/api/client';
import type { Mode } from '@/lib/api/types';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { toastError } from '@/lib/toast';

interface Switching {
  /** A request is on its way. */
  isBusy: boolean;
  /** What the server wants confirmed, because it would end work in progress. */
  unconfirmed: { workspaceId: string; chatId: string; change: ChatChange } | null;
}

export const useSwitching = create<Switching>(() => ({ isBusy: false, unconfirmed: null }));

export async function requestSwitch(workspaceId: string, chatId: string, change: ChatChange): Promise<void> {
  useSwitching.setState({ isBusy: true, unconfirmed: null });
  try {
    await api.changeChat(workspaceId, chatId, change);
  } catch (reason) {
    if (reason instanceof ApiError && reason.code === 'CONFIRMATION_REQUIRED') {
      useSwitching.setState({ unconfirmed: { workspaceId, chatId, change } });
    } else toastError(reason);
  } finally {
    useSwitching.setState({ isBusy: false });
  }
}

/** Asks for another role or mode for the chat around. */
export function useSwitch(): (change: ChatChange) => Promise<void> {
  const { workspaceId, chatId } = useChatIds();
  return useCallback((change: ChatChange) => requestSwitch(workspaceId, chatId, change), [workspaceId, chatId]);
}

/** Asks for the mode that the chat is not in. */
export function useToggleMode(): () => void {
  const request = useSwitch();
  const mode = useChatView((view) => view.chat.config.agent_mode);
  return useCallback(() => void request({ agent_mode: OTHER[mode] }), [request, mode]);
}

const OTHER: Record<Mode, Mode> = { plan: 'act', act: 'plan' };
