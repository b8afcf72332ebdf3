// Follows one chat's events.
import { token } from '@/lib/api/client';
import type { ChatEvent } from '@/lib/api/types';
import { applyEvents, loadChat, setConnection } from '@/lib/chat/store';
import { FrameReader } from './sse';

const PAUSE = 500;

/** Until `stop`; after a break it goes on after the last event it had. */
export async function followChat(workspace: string, chat: string, after: number, stop: AbortSignal): Promise<void> {
  let last = after;
  while (!stop.aborted) {
    try {
      for await (const event of events(workspace, chat, last, stop)) {
        applyEvents(chat, [event]);
        last = event.type === 'reset' ? await loadChat(workspace, chat) : event.seq;
      }
    } catch {
      if (stop.aborted) return;
    }
    setConnection('reconnecting');
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

async function* events(workspace: string, chat: string, after: number, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  const response = await fetch(`/api/v1/workspaces/${workspace}/chats/${chat}/events`, {
    signal,
    headers: { authorization: `Bearer ${token.get()}`, 'last-event-id': String(after) },
  });
  if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
  setConnection('live');
  const frames = new FrameReader();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    for (const frame of frames.take(value)) yield JSON.parse(frame.data) as ChatEvent;
  }
}
