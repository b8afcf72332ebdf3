// Components under test find their words loaded.
import { withWords } from '@/i18n';
import { LOADERS, type WordSet } from '@/i18n/sets';

await Promise.all((Object.keys(LOADERS.en) as WordSet[]).map((set) => withWords(set, Promise.resolve())));
