// How a page that nobody looks at says that somebody is waited for: title, icon, notification.
import { faviconOf, setFaviconWaiting } from '@/lib/favicon';

const MARK = '(?) ';

/** Puts the mark before whatever title the page has or gets, until the returned function is called. */
export function markPage(): () => void {
  const mark = () => {
    if (!document.title.startsWith(MARK)) document.title = MARK + document.title;
  };
  const title = document.querySelector('title');
  const observer = new MutationObserver(mark);
  if (title !== null) observer.observe(title, { childList: true, characterData: true, subtree: true });
  mark();
  setFaviconWaiting(true);
  return () => {
    observer.disconnect();
    if (document.title.startsWith(MARK)) document.title = document.title.slice(MARK.length);
    setFaviconWaiting(false);
  };
}

/** Asks once, when the first question comes up while the page is looked at; never when it loads. */
export function askToNotify(): void {
  if (!('Notification' in window) || Notification.permission !== 'default' || document.hidden) return;
  void Notification.requestPermission();
}

/** Tells somebody who looks at something else. Nothing where it was not allowed, or the page is in view. */
export function notifyHidden(title: string, body: string, tag: string): void {
  if (!('Notification' in window) || Notification.permission !== 'granted' || !document.hidden) return;
  const notification = new Notification(title, { body, tag, icon: faviconOf(null, true) });
  notification.onclick = () => {
    window.focus();
    notification.close();
  };
}
