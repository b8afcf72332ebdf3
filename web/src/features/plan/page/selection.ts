// Text that the user has selected in a step, and text that comments are about, marked where it stands.
import { type RefObject, useEffect } from 'react';

const LONGEST = 500;

/** The selected words, if they are words of this step. */
export function selectionIn(step: number): string {
  const selection = getSelection();
  const text = document.getElementById(`step-${step}`)?.querySelector('[data-words]');
  if (!selection || selection.isCollapsed || !text?.contains(selection.anchorNode) || !text.contains(selection.focusNode)) return '';
  return selection.toString().replaceAll(/\s+/g, ' ').trim().slice(0, LONGEST);
}

const NAME = 'plan-comment';
let marks: Highlight | null = null;

/** Marks words without touching the elements that they are in; a browser that can't do it shows them in the comment alone. */
export function useMarked(frame: RefObject<HTMLElement | null>, quotes: string): void {
  useEffect(() => {
    const root = frame.current;
    if (!root || quotes === '' || typeof Highlight === 'undefined') return undefined;
    if (!marks) CSS.highlights.set(NAME, (marks = new Highlight()));
    const own = marks;
    const ranges = quotes.split('\n').flatMap((quote) => rangeOf(root, quote));
    for (const range of ranges) own.add(range);
    return () => ranges.forEach((range) => own.delete(range));
  });
}

/** Where the words stand; white space counts as one blank. */
function rangeOf(root: HTMLElement, quote: string): Range[] {
  const places: { node: Text; offset: number }[] = [];
  let all = '';
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    for (let offset = 0; offset < node.data.length; offset += 1) {
      const letter = node.data[offset] ?? '';
      if (/\s/.test(letter) && all.endsWith(' ')) continue;
      all += /\s/.test(letter) ? ' ' : letter;
      places.push({ node, offset });
    }
  }
  const at = all.indexOf(quote);
  const [start, end] = [places[at], places[at + quote.length - 1]];
  if (at < 0 || !start || !end) return [];
  const range = new Range();
  range.setStart(start.node, start.offset);
  range.setEnd(end.node, end.offset + 1);
  return [range];
}
