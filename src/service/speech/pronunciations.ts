import type { Pronunciation } from '../../contract/speech.ts';
import type { CodePointRange } from '../../contract/unspoken.ts';
import { display } from '../../text/display.ts';
import { WordMatcher } from '../../text/word-matcher.ts';
import { foreignSign } from '../../text/phonemes.ts';
import { inCodePoints } from '../engine/pronounced-words.ts';
import type { PronouncedSpan } from '../engine/speech-engine.ts';
import type { FieldProblem } from '../service-error.ts';
import type { SpeakingVoice } from '../voices/catalogue.ts';

/**
 * Returns the words of a text that have phonemes, as the lexicon of foley finds them. A phrase with as many words as its
 * phonemes is divided into its words.
 */
export function pronouncedIn(
  text: string,
  pronunciations: readonly Pronunciation[] = [],
): readonly PronouncedSpan[] {
  if (pronunciations.length === 0) return [];
  const entries = pronunciations.map(({ phonemes, word }) => {
    return { written: word, spoken: phonemes, isPhonemes: true };
  });
  const spans = new WordMatcher(entries)
    .pronounce(text)
    .flatMap(({ end, entry: { spoken: phonemes }, start }) => {
      const words = Array.from(text.slice(start, end).matchAll(/\S+/gu));
      const sounds = phonemes.trim().split(/\s+/u);
      if (words.length !== sounds.length) return [{ start, end, phonemes }];
      return words.map(({ 0: word, index }, at) => ({
        start: start + index,
        end: start + index + word.length,
        phonemes: sounds[at] ?? '',
      }));
    });
  return inCodePoints(text, spans);
}

/** Returns a problem for each pronunciation that the voice cannot speak. */
export function pronunciationProblems(
  pronunciations: readonly Pronunciation[] = [],
  { name, phonemes: signs }: SpeakingVoice,
): readonly FieldProblem[] {
  return pronunciations.flatMap(({ phonemes, word }, index) => {
    const field = `pronunciations.${index}`;
    const entry = `${field} gives ${display(word)} the phonemes ${display(phonemes)}`;
    if (signs === undefined) return [{ field, message: `${entry}; ${name} speaks no phonemes` }];
    const sign = foreignSign(phonemes, signs);
    if (sign === undefined) return [];
    return [{ field, message: `${entry}; ${name} has no sound for ${display(sign)}` }];
  });
}

/** Returns ranges of a text without the words that a voice speaks by given phonemes. */
export function withoutPronounced(
  unspoken: readonly CodePointRange[],
  pronounced: readonly PronouncedSpan[],
): readonly CodePointRange[] {
  return pronounced.reduce<readonly CodePointRange[]>(
    (ranges, word) =>
      ranges.flatMap(({ end, start }) => {
        const before = { start, end: Math.min(end, word.start) };
        const after = { start: Math.max(start, word.end), end };
        return [before, after].filter((part) => part.start < part.end);
      }),
    unspoken,
  );
}
