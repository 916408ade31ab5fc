import { isAboutText } from '../api/failures.ts';
import type { CodePointRange } from '../contract/unspoken.ts';
import { formatRanges } from '../contract/unspoken.ts';
import { countCodePoints, sliceCodePoints } from '../text/code-points.ts';
import { Failure } from '../errors/failure.ts';
import { counted, display } from '../text/display.ts';

/** A word or a part of a word that a voice left out, with its range in the text. */
export interface LeftOutWord extends CodePointRange {
  readonly text: string;
}

/** Returns the words at the ranges that a service reported. If a range exceeds the text, returns no words. */
export function unspokenWords(
  text: string,
  ranges: readonly CodePointRange[] = [],
): readonly LeftOutWord[] {
  const last = ranges.at(-1);
  if (last === undefined || last.end > countCodePoints(text)) return [];
  let [rest, position] = [text, 0];
  return ranges.map(({ start, end }) => {
    rest = sliceCodePoints(rest, start - position);
    const word = sliceCodePoints(rest, 0, end - start);
    [rest, position] = [rest.slice(word.length), end];
    return { start, end, text: word };
  });
}

/** Returns the ranges of all words of a text. A word is a sequence of letters and digits. */
export function wordRanges(text: string): readonly CodePointRange[] {
  let [units, position] = [0, 0];
  return Array.from(text.matchAll(/[\p{L}\p{M}\p{N}]+/gu), ({ 0: word, index }) => {
    const start = position + countCodePoints(text.slice(units, index));
    units = index + word.length;
    position = start + countCodePoints(word);
    return { start, end: position };
  });
}

/** Returns true if a service refused a request only because of its text, and billed nothing. */
export function isRefusedText(error: unknown): error is Failure {
  if (!(error instanceof Failure) || error.code !== 'ERR_INVALID_REQUEST') return false;
  const isOfText = error.details?.['errors'] === undefined || isAboutText(error.details);
  return error.exit === 'rejected' && error.billed === 'no' && isOfText;
}

/** Formats a message about the parts of a text that a voice left out. Needs only their ranges, not the text. */
export function leftOut(ranges: readonly CodePointRange[]): string {
  // Counted from 1, the end included.
  const places = ranges
    .slice(0, SHOWN_WORDS)
    .map(({ start, end }) => (end === start + 1 ? `${end}` : `${start + 1}-${end}`));
  const more = ranges.length > SHOWN_WORDS ? ', …' : '';
  return `the voice cannot speak characters ${places.join(', ')}${more} of the text`;
}

const SHOWN_WORDS = 5;
const WORD_MAX_CHARACTERS = 30;

/**
 * Formats a message for stderr about words that a voice left out.
 * @param where prefix that names the source of the words, such as `job ID`; default none
 */
export function describeUnspoken(
  words: readonly (Pick<LeftOutWord, 'start'> & { readonly text?: string | undefined })[],
  {
    isBrief = false,
    voice,
    where,
  }: {
    readonly voice?: string | undefined;
    readonly where?: string;
    /** True to omit the hint on what the user can do. */
    readonly isBrief?: boolean;
  },
): string {
  const shown = words.slice(0, SHOWN_WORDS).map(({ start, text }) => {
    const place = `character ${start + 1}`;
    if (text === undefined) return place;
    return `"${display(text, { max: WORD_MAX_CHARACTERS })}" (${place})`;
  });
  const others = words.length - shown.length;
  const list = [...shown, ...(others > 0 ? [`${others} more`] : [])].join(', ');
  const speaker = voice === undefined ? 'the voice' : `the voice ${display(voice)}`;
  const subject = where === undefined ? '' : `${where}: `;
  const sentence = `${subject}${speaker} cannot speak ${counted(words.length, 'word')}, which the audio leaves out: ${list}`;
  return isBrief ? sentence : `foley: ${sentence}. ${UNSPOKEN_HINT}`;
}

/** Hint for error messages: what the user can do about words that a voice left out. */
export const UNSPOKEN_HINT =
  'Choose a voice of that language: `foley voices list --supports-language CODE` lists them, and `foley engine add espeak-ng` adds 18 languages to the embedded service.';

/** Returns ranges of unspoken text as the journals record them; undefined if there are none. */
export function recordedRanges(ranges: readonly CodePointRange[] = []): string | undefined {
  return ranges.length === 0 ? undefined : formatRanges(ranges);
}
