import { fractionText, indexedText, joinFormula, powerText, rootText } from './formula.ts';

interface MathNode {
  readonly name: string;
  readonly parts: string[];
}

/** Converts MathML to text, such as `x² = 1/2`. Receives the elements inside of `<math>` in document order. */
export class MathReader {
  readonly #open: MathNode[] = [{ name: 'math', parts: [] }];
  #unread = 0;
  #tooDeep = 0;

  /** Opens an element. */
  open(name: string): void {
    if (this.#unread > 0 || UNREAD.has(name)) this.#unread += 1;
    else if (this.#open.length > MAX_DEPTH) this.#tooDeep += 1;
    else this.#open.push({ name, parts: [] });
  }

  /** Adds text of the innermost element. */
  text(text: string): void {
    const part = text.replaceAll(INVISIBLE, '').trim();
    if (this.#unread === 0 && part !== '') this.#open.at(-1)?.parts.push(part);
  }

  /** Closes the innermost element. */
  close(): void {
    if (this.#unread > 0) {
      this.#unread -= 1;
      return;
    }
    if (this.#tooDeep > 0) {
      this.#tooDeep -= 1;
      return;
    }
    if (this.#open.length === 1) return;
    const text = textOf(this.#open.pop());
    // An empty argument keeps its place, as in a root without an index.
    if (text !== '' || HAS_PLACES.test(this.#open.at(-1)?.name ?? '')) {
      this.#open.at(-1)?.parts.push(text);
    }
  }

  /** Returns the text of the formula. */
  finish(): string {
    [this.#unread, this.#tooDeep] = [0, 0];
    while (this.#open.length > 1) this.close();
    return textOf(this.#open[0]);
  }
}

function textOf(node: MathNode | undefined): string {
  const { name, parts } = node ?? { name: '', parts: [] };
  const [first = '', second = '', third = ''] = parts;
  switch (name) {
    case 'mfrac':
      return fractionText(first, second);
    case 'msup':
      return powerText(first, second);
    case 'msub':
      return indexedText(first, second);
    case 'msubsup':
      return powerText(indexedText(first, second), third);
    case 'mroot':
      return rootText(first, second);
    case 'msqrt':
      return rootText(joinFormula(parts));
    case 'mfenced':
      return `(${parts.join(', ')})`;
    case 'mtd':
      return parts.length === 0 ? '' : `${joinFormula(parts)},`;
    case 'mtable':
      return joinFormula(parts).replace(/,$/, '');
    case 'mover':
    case 'munder':
    case 'munderover':
      return parts.filter((part) => part !== '').join(' ');
    case 'mtext':
    case 'ms':
    case 'mn':
    case 'mi':
    case 'mo':
      return parts.join(' ');
    default:
      return joinFormula(parts);
  }
}

// The text of deeper elements is joined without their structure.
const MAX_DEPTH = 40;
const HAS_PLACES = /^m(?:frac|root|sub|sup|subsup|under|over|underover)$/;
const UNREAD = new Set(['annotation', 'annotation-xml', 'mphantom', 'none', 'mprescripts']);
// Signs for invisible multiplication and similar.
const INVISIBLE = /[\u2061-\u2064\u200b\ufeff]/g;
