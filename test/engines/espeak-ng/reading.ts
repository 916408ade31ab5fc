import { readFileSync } from 'node:fs';

interface Phrase {
  readonly written: string;
  /** Right readings, in words. */
  readonly spoken: readonly string[];
  readonly kind: string;
  /** What espeak-ng gets. */
  readonly rewritten: string;
}

interface Reading {
  /** Returns what is spoken for each character. */
  readAloud(characters: readonly string[], language: string): string[];
}

/** The languages with a reading. */
export const READ_LANGUAGES = ['de', 'fr', 'es'] as const;

/** The golden phrases of a language. Columns: written, spoken (`a | b` allows both), class, rewritten (empty: unchanged). */
export function phrasesIn(language: string): readonly Phrase[] {
  return readFileSync(new URL(`${language}.tsv`, import.meta.url), 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => {
      const [written = '', spoken = '', kind = '', rewritten = ''] = line.split('\t');
      return { written, spoken: spoken.split(' | '), kind, rewritten: rewritten || written };
    });
}

const { readAloud }: Reading = await import(
  new URL('../../../engines/espeak-ng/reading.mjs', import.meta.url).href
);

/** Returns what is spoken for each code point of a text. */
export function readCharacters(text: string, language: string): string[] {
  return readAloud(Array.from(text), language);
}

/** Returns the text that espeak-ng gets. */
export function rewrite(text: string, language: string): string {
  return readCharacters(text, language).join('');
}
