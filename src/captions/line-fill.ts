import type { Token } from './tokens.ts';

/** Columns of the white space before a token. */
export function gapWidth(gap: Token['gap']): number {
  return gap === '\u3000' ? 2 : gap.length;
}

/** Counts the lines that a row of tokens needs at least, one token after the other. */
export class LineFill {
  readonly #maxChars: number;
  #width = 0;
  #lines = 0;
  #total = 0;
  #isTooWide = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Lines needed so far. */
  get lines(): number {
    return this.#lines;
  }

  /** Columns so far, as if they were all on one line. */
  get width(): number {
    return this.#total;
  }

  /** Whether a token was added that is wider than a line. */
  get isTooWide(): boolean {
    return this.#isTooWide;
  }

  add({ gap, width }: Pick<Token, 'gap' | 'width'>): void {
    this.#isTooWide ||= width > this.#maxChars;
    const widened = this.#width + gapWidth(gap) + width;
    this.#total += width + (this.#lines === 0 ? 0 : gapWidth(gap));
    if (this.#lines > 0 && widened <= this.#maxChars) {
      this.#width = widened;
      return;
    }
    this.#lines += 1;
    this.#width = width;
  }
}
