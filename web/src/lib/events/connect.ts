// A tab's end of the event stream.
import type { Hub } from './hub';
import type { ToHub, ToTab } from './messages';
import { trustedUrl } from '@/lib/trusted';
import workerUrl from './worker.ts?sharedworker&url';

/** A hidden tab with a stream of its own gives it up after this time; browsers allow only six to a server. */
const HIDDEN = 20_000;
/** Between two attempts to load the hub, in milliseconds. */
const AGAIN = 2_000;

/** Says to the hub; what it answers goes to `hear`. */
export function connect(hear: (message: ToTab) => void): (message: ToHub) => void {
  return typeof SharedWorker === 'undefined' ? alone(hear) : shared(hear);
}

function shared(hear: (message: ToTab) => void): (message: ToHub) => void {
  const worker = new SharedWorker(trustedUrl(workerUrl), { type: 'module', name: 'planwright-events' });
  worker.port.onmessage = (event: MessageEvent<ToTab>) => hear(event.data);
  return (message) => worker.port.postMessage(message);
}

/** The hub in this tab. Most browsers have shared workers and never load it. */
async function ownHub(): Promise<Hub> {
  for (;;) {
    const found = await import('./hub').catch(() => null);
    if (found) return new found.Hub((url, init) => fetch(url, init));
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

function alone(hear: (message: ToTab) => void): (message: ToHub) => void {
  const hub = ownHub();
  const tell = (message: ToHub) => void hub.then((one) => one.hear(hear, message));
  let last: ToHub | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') timer = setTimeout(() => tell({ kind: 'bye' }), HIDDEN);
    else if (last) tell(last);
  });
  return (message) => {
    if (message.kind === 'want') last = message;
    tell(message);
  };
}
