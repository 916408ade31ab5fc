import type { Range } from './document.ts';

/** A lexicon entry: a word or phrase, and how a voice speaks it. */
export interface LexiconEntry {
  readonly written: string;
  /** Text that replaces the word, or its phonemes (IPA). */
  readonly spoken: string;
  /** True if `spoken` has phonemes. The word then stays in the text. */
  readonly isPhonemes?: boolean;
}

/** A word of a text that has phonemes, with its range in UTF-16 units. */
interface PronouncedWord extends Range {
  readonly entry: LexiconEntry;
}

/**
 * Finds the words and phrases of a list in a text. Matches only whole words, and prefers the longest entry. Ignores case,
 * unless the entry has an upper-case letter after its first character. If two entries have the same word, the later one
 * wins. An entry with punctuation at an edge, such as `.NET` or `C++`, does not match within a word, such as `ASP.NET` or
 * `C++20`.
 */
export class WordMatcher {
  readonly #exact = createNode();
  readonly #folded = createNode();

  /** @param entries valid entries, for which {@link entryProblem} returns undefined */
  constructor(entries: readonly LexiconEntry[]) {
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

  /** Returns the entries, without those that a later entry overrides. */
  entries(): readonly LexiconEntry[] {
    return [...entriesIn(this.#exact), ...entriesIn(this.#folded)];
  }

  /** Returns the words of a text that have phonemes, in order. */
  pronounce(text: string): readonly PronouncedWord[] {
    const words: PronouncedWord[] = [];
    for (let at = 0; at < text.length;) {
      const { end, entry } = this.matchAt(text, at);
      if (entry?.isPhonemes === true) words.push({ start: at, end, entry });
      at = end;
    }
    return words;
  }

  /**
   * Returns the entry at an index of a text, and where it or the token there ends. `isCertain` is false if text that
   * arrives later may change the match.
   */
  matchAt(text: string, from: number, pauseAt = Infinity) {
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
export const SPACED_START = new RegExp(String.raw`^(?![${UNSPACED}])[\p{L}\p{N}\p{M}]`, 'u');
export const SPACED_END = new RegExp(String.raw`(?![${UNSPACED}])[\p{L}\p{N}\p{M}]$`, 'u');

function tokenAt(text: string, at: number): string {
  TOKEN.lastIndex = at;
  return TOKEN.exec(text)?.[0] ?? '';
}

function plainToken(token: string): string {
  if (token.trim() === '') return ' ';
  return token === '’' ? "'" : token.normalize('NFC');
}
