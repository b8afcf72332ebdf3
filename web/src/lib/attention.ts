// How a page says that somebody is waited for, or that work ended: title, icon, notification.
import { faviconOf, setFaviconWaiting } from '@/lib/favicon';

/** Puts the mark before whatever title the page has or gets, and a dot on its icon, until the returned function is called. */
export function markPage(mark: string): () => void {
  const put = () => {
    if (!document.title.startsWith(mark)) document.title = mark + document.title;
  };
  const title = document.querySelector('title');
  const observer = new MutationObserver(put);
  if (title !== null) observer.observe(title, { childList: true, characterData: true, subtree: true });
  put();
  setFaviconWaiting(true);
  return () => {
    observer.disconnect();
    if (document.title.startsWith(mark)) document.title = document.title.slice(mark.length);
    setFaviconWaiting(false);
  };
}

/** Asks once, when the first question comes up while the page is looked at; never when it loads. */
export function askToNotify(): void {
  if (!('Notification' in window) || Notification.permission !== 'default' || document.hidden) return;
  void Notification.requestPermission();
}

/** Tells somebody who looks at something else, and calls `open` when they click it. Nothing where it was not allowed, or the page is in view. */
export function notifyHidden(title: string, body: string, tag: string, open: () => void): void {
  if (!('Notification' in window) || Notification.permission !== 'granted' || !document.hidden) return;
  const notification = new Notification(title, { body, tag, icon: faviconOf(null, true) });
  notification.onclick = () => {
    window.focus();
    open();
    notification.close();
  };
}
