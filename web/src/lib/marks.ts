// Characters that nobody sees and that change how a name reads: order of writing, zero width, control.
const UNSEEN = /[\p{Cf}\p{Cc}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;

const codeOf = (mark: string) => `⟨U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** A name of a file with such characters shown by their numbers. */
export const shownName = (name: string): string => name.replaceAll(UNSEEN, codeOf);

/** The same for a text of several lines. */
export const shownText = (text: string): string => text.replaceAll(UNSEEN, (mark) => (mark === '\n' || mark === '\t' ? mark : codeOf(mark)));
