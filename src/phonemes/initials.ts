import type { TaggerToken } from './tokenize.ts';

/** A letter of an abbreviation, and whether another letter follows. */
export type LetterPlace = 'inside' | 'last';

/**
 * Returns which tokens are letters of an abbreviation that is spelled with spaces, as `readEnglish` writes it: `A P I`
 * or `C E Os`.
 */
export function spelledLetters(tokens: readonly TaggerToken[]): ReadonlyMap<number, LetterPlace> {
  const found = new Map<number, LetterPlace>();
  for (const [at, { end, text }] of tokens.entries()) {
    if (!/^\p{Lu}[s.]?$/u.test(text)) continue;
    const next = tokens[at + 1];
    const isBeforeLetter = next?.start === end + 1 && /^\p{Lu}[s.]?$/u.test(next.text);
    if (text.length === 1 && isBeforeLetter) found.set(at, 'inside');
    else if (found.get(at - 1) === 'inside') found.set(at, 'last');
  }
  return found;
}

/** Returns whether "a" or "A" is the name of the letter, as in `an A in physics` or `the letter a`, and not the article. */
export function isNameOfA(tokens: readonly TaggerToken[], at: number): boolean {
  const [last, own, next] = [
    tokens[at - 1]?.text ?? '',
    tokens[at]?.text,
    tokens[at + 1]?.text ?? '',
  ];
  const isBeforePause = next === '' || /^[.,;:!?)…"']/.test(next);
  if (own === 'a')
    return /^(?:letter|vowel)$/i.test(last) && (isBeforePause || AFTER_NAME.test(next));
  if (own !== 'A') return false;
  if (isBeforePause || AFTER_NAME.test(next)) return true;
  // At the beginning of a sentence and in a title, the article has a capital too.
  return /^\p{Ll}/u.test(last) || (/^\p{Lu}/u.test(last) && !/^\p{Lu}/u.test(next));
}

const AFTER_NAME = /^(?:is|was|has|in|and|or|to|at|as|comes|stands)$/;
