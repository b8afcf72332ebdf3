// Tells of questions and ended runs of every chat, whichever page is open.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useText } from '@/i18n';
import type { Chat } from '@/lib/api/types';
import { askToNotify, markPage, notifyHidden } from '@/lib/attention';
import { onEvents } from '@/lib/events/bridge';
import type { SentEvent } from '@/lib/events/messages';
import { useInbox } from '@/lib/inbox';
import { cut } from '@/lib/cut';

type Ended = 'done' | 'failed';
const MARKS: Record<Ended, string> = { done: '✓ ', failed: '✕ ' };

/** What an event tells somebody who looks elsewhere. Who stopped a run themselves knows. */
function newsOf(event: SentEvent): { kind: Ended | 'question'; body: string; tag: string } | null {
  if (event.type === 'question_pending') return { kind: 'question', body: plain(String(event.data.plan?.goal ?? event.data.call?.reason ?? event.data.questions[0]?.question ?? '')), tag: event.data.question_id };
  if (event.type !== 'run_finished' || event.data.outcome === 'stopped') return null;
  return { kind: event.data.outcome === 'done' ? 'done' : 'failed', body: event.data.error?.message ?? '', tag: `${event.chat_id}-run` };
}

const plain = (text: string) => cut(text.replaceAll(/[`*_#>]/g, '').replaceAll(/\s+/g, ' ').trim(), 200);

export function Signals() {
  const t = useText('signals');
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const waiting = useInbox().data?.needs_you.length ?? 0;
  const [ended, setEnded] = useState<Ended | null>(null);
  useEffect(() => onEvents((events) => {
    for (const event of events) {
      const news = newsOf(event);
      if (!news) continue;
      const chat = queries.getQueriesData<Chat[]>({ queryKey: ['chats'] }).flatMap(([, chats]) => chats ?? []).find(({ id }) => id === event.chat_id);
      if (news.kind === 'question') askToNotify();
      else if (document.hidden) setEnded((before) => (before === 'failed' ? before : (news.kind as Ended)));
      notifyHidden(t(news.kind, { title: chat?.title ?? t('chat') }), news.body, news.tag, () => chat && navigate(`/w/${chat.workspace_id}/c/${chat.id}`));
    }
  }), [queries, navigate, t]);
  useEffect(() => {
    const look = () => { if (!document.hidden) setEnded(null); };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  const mark = `${waiting > 0 ? `(${waiting}) ` : ''}${ended ? MARKS[ended] : ''}`;
  useEffect(() => (mark === '' ? undefined : markPage(mark)), [mark]);
  return null;
}
