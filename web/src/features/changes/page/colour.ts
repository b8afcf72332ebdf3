// Colours of code and marks of changed words, for the lines of a diff.
import { markEdits, tokenize, type HunkData, type HunkTokens, type TokenizeOptions } from 'react-diff-view';
import { highlightOf } from '@/components/markdown/highlight';
import { languageOf } from '@/lib/language';
import type { Hunk } from '@/lib/unifiedDiff';

export async function coloured(path: string, hunks: Hunk[]): Promise<HunkTokens | null> {
  const highlight = await highlightOf(languageOf(path)).catch(() => null);
  const data = hunks as unknown as HunkData[];
  const enhancers = [markEdits(data, { type: 'block' })];
  const refractor = highlight && { highlight: (code: string) => highlight.tree(code) };
  const options = refractor ? { highlight: true, refractor, language: 'any', enhancers } : { enhancers };
  try {
    return tokenize(data, options as unknown as TokenizeOptions);
  } catch {
    // Without colours it is still a diff.
    return null;
  }
}
