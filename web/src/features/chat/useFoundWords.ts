// Marks the words that are looked for wherever the conversation shows them, without touching what it draws.
import { useEffect } from 'react';

const NAME = 'found-words';

/** Set by script, because the bundler does not know `::highlight` and warns of it. */
const LOOK = `::highlight(${NAME}) { background-color: var(--line2); color: var(--fg); text-decoration: underline; }`;

export function useFoundWords(sought: string): void {
  useEffect(() => {
    const log = document.querySelector('[role=log]');
    if (!log || sought === '' || !('highlights' in CSS)) return;
    const look = new CSSStyleSheet();
    look.replaceSync(LOOK);
    document.adoptedStyleSheets.push(look);
    let frame = 0;
    const mark = () => CSS.highlights.set(NAME, new Highlight(...places(log, sought.toLowerCase())));
    // Rows come and go as the conversation is scrolled.
    const watch = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    });
    watch.observe(log, { childList: true, subtree: true, characterData: true });
    mark();
    return () => {
      watch.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.delete(NAME);
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== look);
    };
  }, [sought]);
}

function places(root: Element, low: string): Range[] {
  const found: Range[] = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(low); at >= 0; at = text.indexOf(low, at + low.length)) {
      if (at + low.length > (node.nodeValue?.length ?? 0)) break;
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + low.length);
      found.push(range);
    }
  }
  return found;
}
