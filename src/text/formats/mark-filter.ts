import type { BlockWriter } from './block-writer.ts';
import { isNoteMark, isPageNumber, superscriptText } from './superscript.ts';
import type { PieceSource } from './text-origins.ts';
import { wholeSource } from './text-origins.ts';

/** An element whose text may be the mark of a note or the number of a page. */
export type HeldKind = 'link' | 'page' | 'superscript';

interface HeldText {
  readonly kind: HeldKind;
  readonly depth: number;
  text: string;
  readonly sources: PieceSource[];
  // Begins with a superscript.
  isRaised: boolean;
}

/**
 * Writes inline text, without the marks of notes and the numbers of pages, and with exponents. Holds the text of an
 * element that may be a mark until the element ends.
 */
export class MarkFilter {
  readonly #writer: BlockWriter;
  readonly #held: HeldText[] = [];
  // A mark was left out, and no text has followed.
  #isAfterMark = false;
  // A superscript whose meaning depends on the following text.
  #raised = '';
  #raisedSources: PieceSource[] = [];

  constructor(writer: BlockWriter) {
    this.#writer = writer;
  }

  /** Returns true inside of a superscript. */
  get isRaised(): boolean {
    return this.#held.some(({ kind }) => kind === 'superscript');
  }

  /**
   * Adds text.
   * @param sources the places of the text in its document, in order
   */
  text(text: string, sources: readonly PieceSource[] = []): void {
    const held = this.#held.at(-1);
    if (held === undefined) {
      this.#settle(text);
      if (this.#isAfterMark && /^[.,;:!?)]/.test(text)) this.#writer.closeUp();
      this.#isAfterMark &&= text.trim() === '';
      this.#writer.text(text, sources);
      return;
    }
    held.text += text;
    held.sources.push(...sources);
    if (held.text.length > LONGEST_MARK) this.#release();
  }

  /** Opens an element. `depth` is the nesting depth of the element in its document. */
  open(kind: HeldKind, depth: number): void {
    if (this.#held.length >= MAX_HELD) return;
    this.#held.push({ kind, depth, text: '', sources: [], isRaised: false });
  }

  /** Closes the element at this depth, if it is held. */
  close(depth: number): void {
    const held = this.#held.at(-1);
    if (held?.depth !== depth) return;
    this.#held.pop();
    const { isRaised, kind, sources, text } = held;
    if (kind === 'superscript') this.#raise(text, sources);
    else if (kind === 'page' ? isPageNumber(text) : isNoteMark(text, isRaised))
      this.#isAfterMark = true;
    else this.text(text, sources);
  }

  /** Writes the held text, before something else than text is written. */
  flush(): void {
    this.#release();
    this.#settle('');
  }

  #raise(text: string, sources: readonly PieceSource[]): void {
    const outer = this.#held.at(-1);
    if (outer === undefined) {
      this.#raised += text;
      this.#raisedSources.push(...sources);
      return;
    }
    const isFirst = outer.text.trim() === '';
    const added = isFirst ? text : superscriptText(outer.text, text, '');
    if (isFirst) outer.isRaised = true;
    outer.text += added;
    outer.sources.push(...(isFirst ? sources : wholeSource(sources, added.length)));
  }

  #settle(next: string): void {
    const raised = this.#raised;
    if (raised === '') return;
    const sources = this.#raisedSources;
    this.#raised = '';
    this.#raisedSources = [];
    const written = superscriptText(this.#writer.tail, raised, next);
    this.#writer.text(written, wholeSource(sources, written.length));
  }

  #release(): void {
    const text = this.#held.map((held) => held.text).join('');
    const sources = this.#held.flatMap((held) => held.sources);
    this.#held.length = 0;
    if (text !== '') this.text(text, sources);
  }
}

const LONGEST_MARK = 40;
const MAX_HELD = 20;
