/// <reference lib="webworker" />
import { Hub, type Tab } from './hub';
import type { ToHub } from './messages';

const hub = new Hub((url, init) => fetch(url, init));

(self as unknown as SharedWorkerGlobalScope).onconnect = (event) => {
  const port = event.ports[0];
  if (!port) return;
  const tab: Tab = (message) => port.postMessage(message);
  port.onmessage = (heard: MessageEvent<ToHub>) => hub.hear(tab, heard.data);
};
