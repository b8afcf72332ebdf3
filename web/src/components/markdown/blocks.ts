// Markdown text to blocks. While a text grows only its end is read again.
import { Lexer, type Token } from 'marked';
import remend from 'remend';

export interface Block {
  token: Token;
  /** Nothing that follows can change it. */
  isComplete: boolean;
}

const lex = (text: string): Token[] => new Lexer({ gfm: true }).lex(text);

/** A whole text. */
export function blocksOf(text: string): Block[] {
  return lex(text).map((token) => ({ token, isComplete: true }));
}

/** Keeps what it has read of a text that only ever grows. */
export class GrowingBlocks {
  private done: Block[] = [];
  private doneLength = 0;
  private text = '';

  of(text: string): Block[] {
    if (!text.startsWith(this.text)) {
      this.done = [];
      this.doneLength = 0;
    }
    this.text = text;
    const tail = lex(text.slice(this.doneLength));
    // The last block may still go on, and so may the one before it when only a blank line has come since.
    const open = tail.at(-1)?.type === 'space' ? 2 : 1;
    for (const token of tail.splice(0, Math.max(0, tail.length - open))) {
      this.done = [...this.done, { token, isComplete: true }];
      this.doneLength += token.raw.length;
    }
    const rest = tail.map((token) => token.raw).join('');
    const healed = rest === '' ? [] : lex(remend(rest, { linkMode: 'text-only', images: false, htmlTags: false }));
    return [...this.done, ...healed.map((token) => ({ token, isComplete: false }))];
  }
}
