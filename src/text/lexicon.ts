import { PHONEMES_MAX_CHARACTERS, PRONOUNCED_WORD_MAX_CHARACTERS } from '../contract/limits.ts';
import type { Pronunciation } from '../contract/speech.ts';
import { countCodePoints } from './code-points.ts';
import type { Edit, SpokenText } from './document.ts';
import { plainText, replaceSpoken } from './document.ts';
import { pauseOffsets } from './pauses.ts';
import type { LexiconEntry } from './word-matcher.ts';
import { SPACED_END, SPACED_START, WordMatcher } from './word-matcher.ts';

const SPOKEN_MAX_CHARACTERS = 1_000;

/** Returns why an entry is invalid; undefined if it is valid. */
export function entryProblem({
  isPhonemes = false,
  spoken,
  written,
}: LexiconEntry): string | undefined {
  if (written.trim() === '') return 'the written word is empty';
  if (spoken.trim() === '') return 'the spoken text is empty';
  if (countCodePoints(written) > PRONOUNCED_WORD_MAX_CHARACTERS) {
    return `the written word has more than ${PRONOUNCED_WORD_MAX_CHARACTERS} characters`;
  }
  if (isPhonemes && countCodePoints(spoken) > PHONEMES_MAX_CHARACTERS) {
    return `the phonemes have more than ${PHONEMES_MAX_CHARACTERS} characters`;
  }
  if (countCodePoints(spoken) > SPOKEN_MAX_CHARACTERS) {
    return `the spoken text has more than ${SPOKEN_MAX_CHARACTERS} characters`;
  }
  return undefined;
}

/**
 * Replaces words and phrases by their spoken form, and finds those that have phonemes. White space parts a spoken form
 * from the words beside it: with `@` spoken as `at`, `a@b` is `a at b`.
 */
export class Lexicon {
  readonly entries: readonly LexiconEntry[];
  readonly #words: WordMatcher;
  readonly #hasPhonemes: boolean;

  /** @param entries valid entries, for which {@link entryProblem} returns undefined */
  constructor(entries: readonly LexiconEntry[]) {
    this.entries = entries;
    this.#words = new WordMatcher(entries);
    this.#hasPhonemes = entries.some(({ isPhonemes }) => isPhonemes === true);
  }

  /** The entries with phonemes, without those that a later entry overrides. */
  get pronunciations(): readonly Pronunciation[] {
    return this.#words
      .entries()
      .filter(({ isPhonemes }) => isPhonemes === true)
      .map(pronunciationOf);
  }

  /**
   * Replaces each word or phrase that has an entry, and adds the phonemes of words that stay. A match never extends across
   * a pause. The time is proportional to the length of the text.
   */
  apply(source: SpokenText): SpokenText {
    const edits = this.#editsOf(source);
    const spoken = edits.length === 0 ? source : replaceSpoken(source, edits);
    const pronunciations = this.pronunciationsIn(spoken.text);
    return pronunciations.length === 0 ? spoken : { ...spoken, pronunciations };
  }

  /** Returns the phonemes of the words of a text, each word once. */
  pronunciationsIn(text: string): readonly Pronunciation[] {
    const words = this.#hasPhonemes ? this.#words.pronounce(text) : [];
    return Array.from(new Set(words.map(({ entry }) => entry)), pronunciationOf);
  }

  /** Returns a plain text in which the words that have an entry are replaced by their spoken forms. */
  speak(text: string): string {
    return this.apply(plainText(text)).text;
  }

  /**
   * Returns the UTF-16 index up to which the replacements in a text are final. Text that arrives later cannot change
   * them. The rest of the text may be the beginning of an entry or of a longer word.
   */
  settled(text: string): number {
    let settled = 0;
    let before = '';
    for (let at = 0; at < text.length;) {
      // The word before a sign decides whether an entry begins with the sign, and whether it needs white space.
      if (!SPACED_END.test(before) || /\s/.test(text.charAt(at))) settled = at;
      const { end, entry, isCertain } = this.#words.matchAt(text, at);
      if (!isCertain) return settled;
      before = (replacementOf(entry) ?? text.slice(at, end)).slice(-2);
      at = end;
    }
    return text.length;
  }

  #editsOf({ pauses, text }: SpokenText): Edit[] {
    const breaks = pauseOffsets(text, pauses);
    const edits: Edit[] = [];
    let [start, next] = [0, 0];
    let before = '';
    let isAfterEdit = false;
    for (let at = 0; at < text.length;) {
      while ((breaks[next]?.end ?? Infinity) <= at) next += 1;
      const { end, entry } = this.#words.matchAt(text, at, breaks[next]?.end);
      const spoken = replacementOf(entry);
      const length = countCodePoints(text.slice(at, end));
      const said = spoken ?? text.slice(at, end);
      const isEdit = spoken !== undefined;
      const isParted =
        (isEdit || isAfterEdit) && SPACED_END.test(before) && SPACED_START.test(said);
      if (isEdit) {
        edits.push({ start, end: start + length, insert: isParted ? ` ${said}` : said });
      } else if (isParted) {
        const last = edits.pop();
        if (last !== undefined) edits.push({ ...last, insert: `${last.insert} ` });
      }
      before = said.slice(-2);
      isAfterEdit = isEdit;
      start += length;
      at = end;
    }
    return edits;
  }
}

function pronunciationOf({ spoken, written }: LexiconEntry): Pronunciation {
  return { word: written.trim(), phonemes: spoken.trim() };
}

function replacementOf(entry: LexiconEntry | undefined): string | undefined {
  return entry === undefined || entry.isPhonemes === true ? undefined : entry.spoken.trim();
}
