// How a page that nobody looks at says that somebody is waited for: title, icon, notification.

const MARK = '(?) ';
const ICON = '/favicon.svg';
const ICON_WAITING = '/favicon-question.svg';

/** Puts the mark before whatever title the page has or gets, until the returned function is called. */
export function markPage(): () => void {
  const mark = () => {
    if (!document.title.startsWith(MARK)) document.title = MARK + document.title;
  };
  const title = document.querySelector('title');
  const observer = new MutationObserver(mark);
  if (title !== null) observer.observe(title, { childList: true, characterData: true, subtree: true });
  mark();
  setIcon(ICON_WAITING);
  return () => {
    observer.disconnect();
    if (document.title.startsWith(MARK)) document.title = document.title.slice(MARK.length);
    setIcon(ICON);
  };
}

function setIcon(address: string): void {
  document.querySelector('link[rel="icon"]')?.setAttribute('href', address);
}

/** Asks once, when the first question comes up while the page is looked at; never when it loads. */
export function askToNotify(): void {
  if (!('Notification' in window) || Notification.permission !== 'default' || document.hidden) return;
  void Notification.requestPermission();
}

/** Tells somebody who looks at something else. Nothing where it was not allowed, or the page is in view. */
export function notifyHidden(title: string, body: string, tag: string): void {
  if (!('Notification' in window) || Notification.permission !== 'granted' || !document.hidden) return;
  const notification = new Notification(title, { body, tag, icon: ICON_WAITING });
  notification.onclick = () => {
    window.focus();
    notification.close();
  };
}
