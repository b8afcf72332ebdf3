// A tab's end of the event stream.
import { Hub } from './hub';
import type { ToHub, ToTab } from './messages';
import { trustedUrl } from '@/lib/trusted';
import workerUrl from './worker.ts?sharedworker&url';

/** A hidden tab with a stream of its own gives it up after this time; browsers allow only six to a server. */
const HIDDEN = 20_000;

/** Says to the hub; what it answers goes to `hear`. */
export function connect(hear: (message: ToTab) => void): (message: ToHub) => void {
  return typeof SharedWorker === 'undefined' ? alone(hear) : shared(hear);
}

function shared(hear: (message: ToTab) => void): (message: ToHub) => void {
  const worker = new SharedWorker(trustedUrl(workerUrl), { type: 'module', name: 'planwright-events' });
  worker.port.onmessage = (event: MessageEvent<ToTab>) => hear(event.data);
  return (message) => worker.port.postMessage(message);
}

function alone(hear: (message: ToTab) => void): (message: ToHub) => void {
  const hub = new Hub((url, init) => fetch(url, init));
  let last: ToHub | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') timer = setTimeout(() => hub.hear(hear, { kind: 'bye' }), HIDDEN);
    else if (last) hub.hear(hear, last);
  });
  return (message) => {
    if (message.kind === 'want') last = message;
    hub.hear(hear, message);
  };
}
