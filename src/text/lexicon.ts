import { PHONEMES_MAX_CHARACTERS, PRONOUNCED_WORD_MAX_CHARACTERS } from '../contract/limits.ts';
import type { Pronunciation } from '../contract/speech.ts';
import { countCodePoints } from './code-points.ts';
import type { Edit, Range, SpokenText } from './document.ts';
import { plainText, replaceSpoken } from './document.ts';
import { pauseOffsets } from './pauses.ts';

/** A lexicon entry: a word or phrase, and how a voice speaks it. */
export interface LexiconEntry {
  readonly written: string;
  /** Text that replaces the word, or its phonemes (IPA). */
  readonly spoken: string;
  /** True if `spoken` has phonemes. The word then stays in the text. */
  readonly isPhonemes?: boolean;
}

/** A word of a text that has phonemes, with its range in UTF-16 units. */
export interface PronouncedWord extends Range {
  readonly entry: LexiconEntry;
}

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
 * Replaces words and phrases by their spoken form, and finds those that have phonemes. Matches only whole words, and prefers the longest entry. Ignores
 * case, unless the entry has an upper-case letter after its first character. If two entries have the same word, the
 * later one wins. An entry with punctuation at an edge, such as `.NET` or `C++`, does not match within a word, such as
 * `ASP.NET` or `C++20`. White space parts a spoken form from the words beside it: with `@` spoken as `at`, `a@b` is
 * `a at b`.
 */
export class Lexicon {
  readonly entries: readonly LexiconEntry[];
  readonly #exact = createNode();
  readonly #folded = createNode();
  readonly #hasPhonemes: boolean;

  /** @param entries valid entries, for which {@link entryProblem} returns undefined */
  constructor(entries: readonly LexiconEntry[]) {
    this.entries = entries;
    this.#hasPhonemes = entries.some(({ isPhonemes }) => isPhonemes === true);
    for (const entry of entries) {
      const { written } = entry;
      const hasCase = HAS_CASE.test(written.trim());
      let node = hasCase ? this.#exact : this.#folded;
      for (const [token] of written.trim().matchAll(TOKENS)) {
        const text = plainToken(token);
        const key = hasCase ? text : text.toLowerCase();
        const next = node.next.get(key) ?? createNode();
        node.next.set(key, next);
        node = next;
      }
      node.entry = entry;
    }
  }

  /** The entries with phonemes, without those that a later entry overrides. */
  get pronunciations(): readonly Pronunciation[] {
    return [...entriesIn(this.#exact), ...entriesIn(this.#folded)]
      .filter(({ isPhonemes }) => isPhonemes === true)
      .map(pronunciationOf);
  }

  /**
   * Replaces each word or phrase that has an entry, and adds the phonemes of words that stay. A match never extends across a pause. The time is proportional to
   * the length of the text.
   */
  apply(source: SpokenText): SpokenText {
    const edits = this.#editsOf(source);
    const spoken = edits.length === 0 ? source : replaceSpoken(source, edits);
    const pronunciations = this.pronunciationsIn(spoken.text);
    return pronunciations.length === 0 ? spoken : { ...spoken, pronunciations };
  }

  /** Returns the words of a text that have phonemes, in order. */
  pronounce(text: string): readonly PronouncedWord[] {
    const words: PronouncedWord[] = [];
    for (let at = 0; at < text.length;) {
      const { end, entry } = this.#matchAt(text, at);
      if (entry?.isPhonemes === true) words.push({ start: at, end, entry });
      at = end;
    }
    return words;
  }

  /** Returns the phonemes of the words of a text, each word once. */
  pronunciationsIn(text: string): readonly Pronunciation[] {
    const words = this.#hasPhonemes ? this.pronounce(text) : [];
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
      const { end, entry, isCertain } = this.#matchAt(text, at);
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
      const { end, entry } = this.#matchAt(text, at, breaks[next]?.end);
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

  #matchAt(text: string, from: number, pauseAt = Infinity) {
    let exact: LexiconNode | undefined = this.#exact;
    let fold: LexiconNode | undefined = this.#folded;
    let end = from;
    let entry: LexiconEntry | undefined;
    let isCertain = true;
    for (let at = from; at === from || (at < text.length && at < pauseAt);) {
      const token = tokenAt(text, at);
      at += token.length;
      const key = plainToken(token);
      exact = exact?.next.get(key);
      fold = fold?.next.get(key.toLowerCase());
      const found = exact?.entry ?? fold?.entry;
      const longer = found === undefined || isWithinWord(text, from, at) ? undefined : found;
      if (end === from || longer !== undefined) {
        end = at;
        entry = longer;
      }
      const mayGoOn = (exact?.next.size ?? 0) + (fold?.next.size ?? 0) > 0;
      // A word may follow an entry that ends with a sign.
      const mayJoin = found !== undefined;
      isCertain = at < text.length || !(mayGoOn || mayJoin || WORD_CHARACTER.test(token));
      if (!mayGoOn) break;
    }
    return { end, entry, isCertain };
  }
}

function pronunciationOf({ spoken, written }: LexiconEntry): Pronunciation {
  return { word: written.trim(), phonemes: spoken.trim() };
}

function replacementOf(entry: LexiconEntry | undefined): string | undefined {
  return entry === undefined || entry.isPhonemes === true ? undefined : entry.spoken.trim();
}

function* entriesIn({ entry, next }: LexiconNode): Generator<LexiconEntry> {
  if (entry !== undefined) yield entry;
  for (const node of next.values()) yield* entriesIn(node);
}

// Returns true if an entry that matches from `start` to `end` has punctuation at an edge, and the edge is within a word.
function isWithinWord(text: string, start: number, end: number): boolean {
  // An entry of signs alone, such as `&`, matches anywhere.
  if (!WORD_CHARACTER.test(text.slice(start, end))) return false;
  return continuesWord(text, start) || isContinued(text, end);
}

// Returns true if the sign at `at` directly follows a word, as in `ASP.NET`. Units such as `%` and `°` may follow a number.
function continuesWord(text: string, at: number): boolean {
  const around = text.slice(Math.max(0, at - 2), at + 2);
  const before = around.slice(0, Math.min(2, at));
  const after = around.slice(before.length);
  return SPACED_END.test(before) && SIGN.test(after) && !(/\d$/.test(before) && UNIT.test(after));
}

// Returns true if a word directly follows the sign before `at`, as in `C++20`. A number may follow a currency (`US$5`), or
// an abbreviation (`No.5`).
function isContinued(text: string, at: number): boolean {
  const [before, after] = [text.slice(Math.max(0, at - 2), at), text.slice(at, at + 2)];
  if (!SIGN_END.test(before) || !SPACED_START.test(after)) return false;
  return !(/^\d/.test(after) && /\p{Sc}$|\p{L}\.$/u.test(before));
}

// An upper-case letter at the beginning may only mark the start of a sentence.
const HAS_CASE = /^.[^]*[\p{Lu}\p{Lt}]/u;

interface LexiconNode {
  readonly next: Map<string, LexiconNode>;
  entry?: LexiconEntry;
}

function createNode(): LexiconNode {
  return { next: new Map() };
}

// Scripts without spaces between words. Each letter of these scripts counts as a word.
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;

// A word, a run of white space, or a sign.
const TOKENS = new RegExp(
  String.raw`[${UNSPACED}]\p{M}*|(?:(?![${UNSPACED}])[\p{L}\p{N}\p{M}])+|\s+|[^]`,
  'gu',
);
const TOKEN = new RegExp(TOKENS, 'uy');
const WORD_CHARACTER = /[\p{L}\p{N}\p{M}]/u;

// Signs at the edges of an entry. An apostrophe belongs to both words, as in `l'eau`.
const SIGN = /^(?!['’])[\p{P}\p{Sc}\p{Sk}\p{Sm}]/u;
const SIGN_END = /(?!['’])[\p{P}\p{Sc}\p{Sk}\p{Sm}]$/u;
const UNIT = /^[%‰°′″\p{Sc}]/u;
const SPACED_START = new RegExp(String.raw`^(?![${UNSPACED}])[\p{L}\p{N}\p{M}]`, 'u');
const SPACED_END = new RegExp(String.raw`(?![${UNSPACED}])[\p{L}\p{N}\p{M}]$`, 'u');

function tokenAt(text: string, at: number): string {
  TOKEN.lastIndex = at;
  return TOKEN.exec(text)?.[0] ?? '';
}

function plainToken(token: string): string {
  if (token.trim() === '') return ' ';
  return token === '’' ? "'" : token.normalize('NFC');
}
