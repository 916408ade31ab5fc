import { readFileSync } from 'node:fs';

/** A sentence with a word whose pronunciation depends on its meaning, and the phonemes that are right in this sentence. */
export interface Homograph {
  readonly sentence: string;
  readonly word: string;
  readonly phonemes: string;
}

/** The rows of `homographs.tsv`, which was written once and never fitted to the results. */
export const HOMOGRAPHS: readonly Homograph[] = readFileSync(
  new URL('homographs.tsv', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => {
    const [word = '', phonemes = '', sentence = ''] = line.split('\t');
    return { sentence, word, phonemes };
  });
