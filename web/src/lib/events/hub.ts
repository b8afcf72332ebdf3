// One event stream for all tabs of a browser. Runs in a SharedWorker, or in the tab where there is none.
import type { Link, SentEvent, ToHub, ToTab, Wanted } from './messages';
import { FrameReader } from './sse';

export type Tab = (message: ToTab) => void;
type Open = (url: string, init: RequestInit) => Promise<Response>;

/** The server sends something at least every 10 s. */
const SILENCE = 35_000;
const PAUSE = 500;
/** The server's limit. */
const MOST_CHATS = 32;

export class Hub {
  private tabs = new Map<Tab, Set<string>>();
  /** The number of the last forwarded event, by chat; the most recently requested chat comes last. */
  private places = new Map<string, number>();
  private cursor: string | null = null;
  private stream: AbortController | null = null;
  private link: Link = 'connecting';
  private wakeUp: () => void = () => undefined;
  private isRunning = false;

  constructor(private readonly open: Open) {}

  hear(tab: Tab, message: ToHub): void {
    switch (message.kind) {
      case 'want':
        return this.want(tab, message.chats);
      case 'wake':
        // A stream that only seems open would never end.
        return this.reopen();
      case 'bye':
        this.tabs.delete(tab);
        if (this.tabs.size === 0) this.stream?.abort();
        return undefined;
    }
  }

  private want(tab: Tab, chats: Wanted[]): void {
    const isNew = !this.tabs.has(tab);
    this.tabs.set(tab, new Set(chats.map((one) => one.chat)));
    if (isNew) tab({ kind: 'link', link: this.link });
    const wanted = new Set([...this.tabs.values()].flatMap((set) => [...set]));
    let isChanged = false;
    const following: Wanted[] = [];
    for (const { chat, after } of chats) {
      const place = this.places.get(chat);
      // A tab that is behind gets the events again; the others ignore known ones.
      if (place === undefined || after < place) isChanged = true;
      else following.push({ chat, after: place });
      this.places.delete(chat);
      this.places.set(chat, Math.min(after, place ?? after));
    }
    for (const chat of this.places.keys()) if (!wanted.has(chat)) this.places.delete(chat);
    if (following.length > 0) tab({ kind: 'following', chats: following });
    if (!this.isRunning) void this.run();
    else if (isChanged) this.reopen();
  }

  private reopen(): void {
    this.stream?.abort();
    this.wakeUp();
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.tabs.size > 0) {
      const stream = new AbortController();
      this.stream = stream;
      const isWelcome = await this.listen(stream).catch(() => true);
      if (!isWelcome) break;
      if (stream.signal.aborted && this.tabs.size > 0) continue;
      this.tell('broken');
      await new Promise<void>((resolve) => {
        this.wakeUp = resolve;
        setTimeout(resolve, PAUSE);
      });
    }
    this.isRunning = false;
  }

  /** Runs until the stream breaks. Returns `false` if the session is no longer valid. */
  private async listen(stream: AbortController): Promise<boolean> {
    let watchdog = setTimeout(() => stream.abort(), SILENCE);
    try {
      const following = [...this.places].slice(-MOST_CHATS).map(([chat, after]) => ({ chat, after }));
      const response = await this.open(addressOf(following), {
        signal: stream.signal,
        headers: this.cursor === null ? {} : { 'last-event-id': this.cursor },
      });
      if (response.status === 401) {
        this.each({ kind: 'signed_out' });
        return false;
      }
      if (!response.ok || !response.body) return true;
      this.tell('live');
      this.each({ kind: 'following', chats: following });
      const frames = new FrameReader();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        // Ignores events of an abandoned stream, which follows an older set of chats.
        if (done || stream.signal.aborted) return true;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => stream.abort(), SILENCE);
        this.take(frames.take(value));
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  private take(frames: { id: string | null; data: string | null }[]): void {
    const events: SentEvent[] = [];
    for (const frame of frames) {
      // The part after `;` has the chats' positions; we send those ourselves.
      if (frame.id !== null) this.cursor = frame.id.split(';')[0] ?? null;
      if (frame.data === null) continue;
      const event = JSON.parse(frame.data) as SentEvent;
      if (event.chat_id === undefined) {
        this.each({ kind: 'lists_stale' });
        continue;
      }
      if (this.places.has(event.chat_id)) this.places.set(event.chat_id, event.seq);
      events.push(event);
    }
    if (events.length > 0) this.each({ kind: 'events', events });
  }

  private tell(link: Link): void {
    this.link = link;
    this.each({ kind: 'link', link });
  }

  private each(message: ToTab): void {
    for (const tab of this.tabs.keys()) tab(message);
  }
}

const addressOf = (chats: Wanted[]) => `/api/v1/events?chats=${chats.map(({ chat, after }) => `${chat}@${after}`).join(',')}`;
