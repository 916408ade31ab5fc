/** A stretch of the text that was traced, in UTF-16 units. */
export interface Source {
  readonly start: number;
  readonly end: number;
}

/** A text that is rewritten step by step, and still knows where each of its characters came from. */
export class TracedText {
  readonly text: string;
  /** Where each UTF-16 unit of `text` came from; together they run forwards. */
  readonly #sources: readonly Source[];

  private constructor(text: string, sources: readonly Source[]) {
    this.text = text;
    this.#sources = sources;
  }

  /** A text that is its own source. */
  static of(text: string): TracedText {
    return new TracedText(
      text,
      Array.from({ length: text.length }, (_, at) => ({ start: at, end: at + 1 })),
    );
  }

  /**
   * As that of strings: what is put in comes from all of what it stands for.
   * @param pattern global
   * @param replacement called with the match and its groups
   */
  replace(pattern: RegExp, replacement: (...match: readonly string[]) => string): TracedText {
    let text = '';
    const sources: Source[] = [];
    let at = 0;
    for (const match of this.text.matchAll(pattern)) {
      const end = match.index + match[0].length;
      const inserted = replacement(...match.map((group) => group ?? ''));
      text += this.text.slice(at, match.index) + inserted;
      sources.push(...this.#sources.slice(at, match.index));
      const source = this.source(match.index, end);
      for (let unit = 0; unit < inserted.length; unit += 1) sources.push(source);
      at = end;
    }
    text += this.text.slice(at);
    sources.push(...this.#sources.slice(at));
    return new TracedText(text, sources);
  }

  /** What a stretch of the text came from. */
  source(start: number, end: number): Source {
    return {
      start: this.#sources[start]?.start ?? 0,
      end: this.#sources[end - 1]?.end ?? 0,
    };
  }
}
