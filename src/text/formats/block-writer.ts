import { countCodePoints } from '../code-points.ts';
import type { Edit, Pause, SpokenText } from '../document.ts';
import { plainText, replaceSpoken } from '../document.ts';
import type { CodeMode } from './text-formats.ts';
import type { PieceSource, TextOrigin } from './text-origins.ts';
import { originsOfWords } from './text-origins.ts';

// A `sentence` (a heading or title) and an `item` (of a list or table) get a full stop if they end without punctuation.
type BlockKind = 'item' | 'paragraph' | 'sentence';

/**
 * Builds the text of a document from its blocks. Merges white space, and leaves out blocks without letters and digits.
 */
export class BlockWriter {
  readonly #parts: string[] = [];
  #length = 0;
  #units = 0;
  #paragraphs = 0;
  #last: BlockKind | undefined;
  #block = '';
  #tail = '';
  #gap: '' | ' ' | '\n' | ', ' = '';
  #label = '';
  #edge: 'image' | 'none' | 'pause' = 'none';
  readonly #origins: TextOrigin[] = [];
  #blockOrigins: TextOrigin[] = [];
  readonly #edits: Edit[] = [];
  readonly #pauses: Pause[] = [];
  #marks: ({ readonly at: number } & (
    | { readonly alias: string; readonly end: number }
    | { readonly ms: number }
  ))[] = [];

  /** Number of paragraphs so far, including the current block if it is not empty. Blank lines separate paragraphs. */
  get paragraphs(): number {
    return this.#paragraphs + (this.#block === '' ? 0 : 1);
  }

  /** The last characters of the current block, and the white space after them. */
  get tail(): string {
    return this.#tail + this.#gap;
  }

  /** The places of the text in its document, in order, for the text whose sources were given. */
  get origins(): readonly TextOrigin[] {
    return this.#origins;
  }

  /**
   * Adds text to the current block.
   * @param sources the places of the text in its document, in order
   */
  text(text: string, sources: readonly PieceSource[] = []): void {
    const plain = text.replaceAll(INVISIBLE, '');
    if (plain === '') return;
    const words = plain.trim();
    if (words === '' || /^\s/.test(plain)) this.#space(' ');
    if (words === '') return;
    const merged = words.replaceAll(/\s+/g, ' ');
    this.#write(merged);
    if (sources.length > 0) {
      const at = this.#block.length - merged.length;
      for (const origin of originsOfWords(text, sources, at)) this.#blockOrigins.push(origin);
    }
    if (/\s$/.test(plain)) this.#space(' ');
  }

  /**
   * Sets the number of a list item, such as `1.`, which stands before the next words. Words that begin with this number
   * get no second one.
   */
  label(label: string): void {
    this.#label = label;
  }

  /** Breaks the line within the current block. */
  lineBreak(): void {
    this.#space('\n');
  }

  /** Removes the white space at the end of the current block. */
  closeUp(): void {
    if (this.#gap === ' ') this.#gap = '';
  }

  /** Marks the start or the end of an image, so that the words on its two sides do not merge. */
  imageEdge(): void {
    if (this.#edge === 'none') this.#edge = 'image';
  }

  /** Ends a cell of a table row. */
  endCell(): void {
    if (this.#block !== '') this.#gap = ENDS_WITH_MARK.test(this.#tail) ? ' ' : ', ';
  }

  /** Adds text that is spoken differently from how it is written. */
  alias(written: string, spoken: string): void {
    const words = written.trim().replaceAll(/\s+/g, ' ');
    if (/^\s/.test(written)) this.#space(' ');
    this.#parted(words);
    this.#write('');
    const at = this.#block.length;
    this.#write(words);
    this.#marks.push({ at, end: this.#block.length, alias: spoken.trim().replaceAll(/\s+/g, ' ') });
    if (/\s$/.test(written)) this.#space(' ');
  }

  /** Adds a pause. The words on its two sides do not merge. */
  pause(ms: number): void {
    this.#edge = 'pause';
    if (ms > 0) this.#marks.push({ at: this.#block.length, ms });
  }

  /** Adds a code block. `mode` is the value of `--code`. */
  code(code: string, mode: CodeMode): void {
    this.end('paragraph');
    if (mode === 'announce') this.text('Code block.');
    if (mode === 'read') {
      for (const line of code.split('\n')) {
        this.text(line);
        this.lineBreak();
      }
    }
    this.end('paragraph');
  }

  /** Ends the current block if the block contains text. */
  end(kind: BlockKind): void {
    const block = this.#block + (kind === 'paragraph' ? '' : this.#fullStop());
    const marks = this.#marks;
    const origins = this.#blockOrigins;
    this.#blockOrigins = [];
    this.#block = '';
    this.#tail = '';
    this.#gap = '';
    this.#edge = 'none';
    this.#marks = [];
    const isSpoken = SPEAKABLE.test(block) || marks.some((mark) => 'alias' in mark);
    if (isSpoken) {
      const isNextItem = kind === 'item' && this.#last === 'item';
      if (this.#last !== undefined) this.#push(isNextItem ? '\n' : '\n\n');
      if (!isNextItem) this.#paragraphs += 1;
      this.#last = kind;
    }
    let count = this.#length;
    let done = 0;
    for (const mark of marks) {
      if (isSpoken) {
        count += countCodePoints(block.slice(done, mark.at));
        done = mark.at;
      }
      if ('ms' in mark) this.#pauses.push({ at: count, ms: mark.ms });
      else {
        const end = count + countCodePoints(block.slice(mark.at, mark.end));
        this.#edits.push({ start: count, end, insert: mark.alias });
      }
    }
    if (!isSpoken) return;
    for (const { end, start, textEnd, textStart } of origins) {
      const from = this.#units;
      this.#origins.push({ textStart: from + textStart, textEnd: from + textEnd, start, end });
    }
    this.#push(block);
  }

  /** Returns the text of all blocks. */
  finish(): SpokenText {
    this.end('paragraph');
    const plain = plainText(this.#parts.join(''), this.#pauses);
    return this.#edits.length === 0 ? plain : replaceSpoken(plain, this.#edits);
  }

  #fullStop(): string {
    if (this.#tail === '' || ENDS_WITH_MARK.test(this.#tail)) return '';
    return ENDS_IN_CHINESE.test(this.#tail) ? '。' : '.';
  }

  #space(gap: ' ' | '\n'): void {
    if (this.#block !== '' && (this.#gap === '' || gap === '\n')) this.#gap = gap;
  }

  // Adds a space before `words` if an image or a pause is between two words.
  #parted(words: string): void {
    const joins = this.#edge === 'pause' ? pauseParts : wordsJoin;
    if (this.#edge !== 'none' && joins(this.#tail, words)) this.#space(' ');
    this.#edge = 'none';
  }

  #write(words: string): void {
    this.#parted(words);
    const isLabelled = this.#label !== '' && words !== '';
    const label = isLabelled && !words.startsWith(this.#label) ? `${this.#label} ` : '';
    if (isLabelled) this.#label = '';
    this.#block += this.#gap + label + words;
    this.#tail = (this.#tail + this.#gap + words).slice(-TAIL_UNITS);
    this.#gap = '';
  }

  #push(part: string): void {
    this.#parts.push(part);
    this.#length += countCodePoints(part);
    this.#units += part.length;
  }
}

/**
 * Returns true if `before` ends with a word and `after` begins with a word, so that the two words
 * would merge.
 */
export function wordsJoin(before: string, after: string): boolean {
  return /[\p{L}\p{N}]\p{M}*$/u.test(before) && /^[\p{L}\p{N}]/u.test(after);
}

// Unlike at an image, a sentence may end at a pause. Chinese and Japanese have no spaces between words.
function pauseParts(before: string, after: string): boolean {
  if (ENDS_IN_CHINESE.test(before) && BEGINS_IN_CHINESE.test(after)) return false;
  return !/[\s\p{Ps}\p{Pi}]$/u.test(before) && /^[\p{L}\p{N}\p{Ps}\p{Pi}\p{S}"'#]/u.test(after);
}

const TAIL_UNITS = 16;

const INVISIBLE = /[\u00ad\u200b\ufeff]/g;
const SPEAKABLE = /[\p{L}\p{N}]/u;
const ENDS_WITH_MARK = /[.!?…:;,،。！？｡；，、؟।\p{Pd}][\p{Pe}\p{Pf}"']*$/u;
const BEGINS_IN_CHINESE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const ENDS_IN_CHINESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u;
