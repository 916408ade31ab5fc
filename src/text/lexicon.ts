import { countCodePoints } from './code-points.ts';
import type { Edit, SpokenText } from './document.ts';
import { plainText, replaceSpoken } from './document.ts';

/** How a word or phrase is spoken. */
export interface LexiconEntry {
  readonly written: string;
  readonly spoken: string;
}

/** Maximum length of the written and the spoken side of an entry, in characters. */
const WRITTEN_MAX_CHARACTERS = 100;
const SPOKEN_MAX_CHARACTERS = 1_000;

/** Returns what is wrong with an entry; undefined if it is valid. */
export function entryProblem({ spoken, written }: LexiconEntry): string | undefined {
  if (written.trim() === '') return 'the written word is empty';
  if (spoken.trim() === '') return 'the spoken text is empty';
  if (countCodePoints(written) > WRITTEN_MAX_CHARACTERS) {
    return `the written word has more than ${WRITTEN_MAX_CHARACTERS} characters`;
  }
  if (countCodePoints(spoken) > SPOKEN_MAX_CHARACTERS) {
    return `the spoken text has more than ${SPOKEN_MAX_CHARACTERS} characters`;
  }
  return undefined;
}

/**
 * Replaces words by what is spoken for them: whole words, the longest entry first. Ignores case, unless the entry has
 * an upper-case letter after its first character. Of two entries for the same word, the later one counts.
 */
export class Lexicon {
  readonly #exact = createNode();
  readonly #folded = createNode();
  /** Number of tokens of the longest entry. */
  #longest = 0;

  /** @param entries valid entries; see {@link entryProblem} */
  constructor(entries: readonly LexiconEntry[]) {
    for (const { spoken, written } of entries) {
      const hasCase = HAS_CASE.test(written.trim());
      let node = hasCase ? this.#exact : this.#folded;
      const tokens = tokensOf(written.trim());
      for (const { text } of tokens) {
        const key = hasCase ? text : folded(text);
        const next = node.next.get(key) ?? createNode();
        node.next.set(key, next);
        node = next;
      }
      node.spoken = spoken.trim();
      this.#longest = Math.max(this.#longest, tokens.length);
    }
  }

  /** Replaces the words of a text. The time is proportional to its length. No match spans a pause. */
  apply(source: SpokenText): SpokenText {
    const edits = this.#editsOf(source);
    return edits.length === 0 ? source : replaceSpoken(source, edits);
  }

  /** Returns what is spoken for a plain text. */
  speak(text: string): string {
    return this.apply(plainText(text)).text;
  }

  #editsOf({ pauses, text }: SpokenText): Edit[] {
    const tokens = tokensOf(text);
    const edits: Edit[] = [];
    let nextPause = 0;
    for (let at = 0; at < tokens.length;) {
      const start = tokens[at]?.start ?? 0;
      while ((pauses[nextPause]?.at ?? Infinity) <= start) nextPause += 1;
      const found = this.#longestAt(tokens, at, pauses[nextPause]?.at ?? Infinity);
      if (found !== undefined) {
        const end = tokens[found.end]?.start ?? countCodePoints(text);
        edits.push({ start, end, insert: found.spoken });
      }
      at = found?.end ?? at + 1;
    }
    return edits;
  }

  /** Returns the longest entry that begins at a token, and the index of the token after it. */
  #longestAt(tokens: readonly Token[], from: number, pauseAt: number) {
    let exact: LexiconNode | undefined = this.#exact;
    let fold: LexiconNode | undefined = this.#folded;
    let found: { readonly end: number; readonly spoken: string } | undefined;
    for (let at = from; at < tokens.length && at < from + this.#longest; at += 1) {
      const token = tokens[at];
      if (token === undefined || (at > from && token.start >= pauseAt)) break;
      exact = exact?.next.get(token.text);
      fold = fold?.next.get(folded(token.text));
      if (exact === undefined && fold === undefined) break;
      const spoken = exact?.spoken ?? fold?.spoken;
      if (spoken !== undefined) found = { end: at + 1, spoken };
    }
    return found;
  }
}

/** An upper-case letter after the first character. */
const HAS_CASE = /^.[^]*[\p{Lu}\p{Lt}]/u;

/** A node of a tree of entries, whose edges are tokens. */
interface LexiconNode {
  readonly next: Map<string, LexiconNode>;
  spoken?: string;
}

function createNode(): LexiconNode {
  return { next: new Map() };
}

function folded(token: string): string {
  return token.toLowerCase();
}

/** A word, a run of white space, or a sign. */
interface Token {
  readonly text: string;
  /** In code points. */
  readonly start: number;
}

/** Scripts without spaces between words: each of their letters counts as a word. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;

const TOKEN = new RegExp(
  String.raw`[${UNSPACED}]\p{M}*|(?:(?![${UNSPACED}])[\p{L}\p{N}\p{M}])+|\s+|[^]`,
  'gu',
);

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let start = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    tokens.push({ text: token.trim() === '' ? ' ' : plainToken(token), start });
    start += countCodePoints(token);
  }
  return tokens;
}

function plainToken(token: string): string {
  return token === '’' ? "'" : token.normalize('NFC');
}
