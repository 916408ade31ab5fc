import { escapeHtml } from './html-writer.ts';

/** Converts a formula of a Word document (Office Math) to MathML. Receives the elements in document order. */
export class OfficeMath {
  readonly #parts: string[] = [];
  // The delimiters, the roots and the sums that are open, innermost last.
  readonly #open: { readonly at: number; begin: string; end: string; index: string | undefined }[] =
    [];
  #operator = '∫';

  /** Opens an element, such as `m:f`. `value` is its attribute `m:val`. */
  open(name: string, value: string | undefined): void {
    const last = this.#open.at(-1);
    if (name === 'm:d' || name === 'm:rad' || name === 'm:nary') {
      this.#open.push({ at: this.#parts.push('') - 1, begin: '(', end: ')', index: undefined });
    } else if (name === 'm:begChr' && last !== undefined) last.begin = value ?? '';
    else if (name === 'm:endChr' && last !== undefined) last.end = value ?? '';
    else if (name === 'm:chr') this.#operator = value ?? '';
    else if (name === 'm:naryPr') this.#operator = '∫';
    else if (name === 'm:e') this.#endLimits();
    const tag = TAGS.get(name);
    if (tag !== undefined) this.#parts.push(`<${tag}>`);
  }

  /** Closes an element. */
  close(name: string): void {
    const tag = TAGS.get(name);
    if (tag !== undefined) this.#parts.push(`</${tag}>`);
    if (name === 'm:naryPr') this.#beginLimits();
    else if (name === 'm:nary') this.#open.pop();
    else if (name === 'm:d') this.#endDelimiters();
    else if (name === 'm:deg') this.#endIndex();
    else if (name === 'm:rad') this.#endRoot();
  }

  /** Adds text of the formula. */
  text(text: string): void {
    for (const token of text.match(TOKENS) ?? []) this.#parts.push(`<mi>${escapeHtml(token)}</mi>`);
  }

  /** Returns the formula as MathML. */
  finish(): string {
    return `<math>${this.#parts.join('')}</math>`;
  }

  // The limits of a sum or an integral stand between its operator and its content.
  #beginLimits(): void {
    const sum = this.#open.at(-1);
    if (sum === undefined) return;
    sum.end = '</munderover>';
    this.#parts.push('<munderover>');
    this.text(this.#operator);
  }

  #endLimits(): void {
    const sum = this.#open.at(-1);
    if (sum?.end !== '</munderover>') return;
    this.#parts.push(sum.end);
    sum.end = '';
  }

  #endDelimiters(): void {
    const { at, begin, end } = this.#open.pop() ?? { at: 0, begin: '', end: '' };
    this.#parts[at] = `<mrow><mo>${escapeHtml(begin)}</mo>`;
    this.#parts.push(`<mo>${escapeHtml(end)}</mo></mrow>`);
  }

  // The index of a root comes first in Office Math, and last in MathML.
  #endIndex(): void {
    const root = this.#open.at(-1);
    if (root !== undefined) root.index = this.#parts.splice(root.at + 1).join('');
  }

  #endRoot(): void {
    const { at, index = '' } = this.#open.pop() ?? { at: 0 };
    const hasIndex = index.includes('<mi>');
    this.#parts[at] = hasIndex ? '<mroot>' : '<msqrt>';
    this.#parts.push(hasIndex ? `${index}</mroot>` : '</msqrt>');
  }
}

const TOKENS = /\d+(?:[.,]\d+)*|\p{L}\p{M}*|[^\s\p{L}\d]/gu;

const TAGS: ReadonlyMap<string, string> = new Map([
  ['m:f', 'mfrac'],
  ['m:sSup', 'msup'],
  ['m:sSub', 'msub'],
  ['m:sSubSup', 'msubsup'],
  ['m:limLow', 'munder'],
  ['m:limUpp', 'mover'],
  ['m:mr', 'mrow'],
  ...['deg', 'den', 'e', 'fName', 'lim', 'num', 'sub', 'sup'].map(
    (name) => [`m:${name}`, 'mrow'] as const,
  ),
]);
