import type { Region } from '../../text/reading/english.ts';
import { readEnglish, silence } from '../../text/reading/english.ts';

/** A range of the original text, before it was rewritten, in UTF-16 units. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/** A rewritten text that maps each character to a range of the original text. */
export class TracedText {
  readonly text: string;
  readonly #sources: readonly SourceRange[];

  constructor(
    text: string,
    sources = Array.from({ length: text.length }, (_, at): SourceRange => ({
      start: at,
      end: at + 1,
    })),
  ) {
    this.text = text;
    this.#sources = sources;
  }

  /** Replaces all matches of a global regular expression. Each replacement maps to the original text of its match. */
  replace(pattern: RegExp, replacement: (...match: readonly string[]) => string): TracedText {
    let text = '';
    const sources: SourceRange[] = [];
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

  /**
   * Replaces ranges of the text, in order and without overlap. Each replacement maps to the original text of its range.
   * @param ranges in UTF-16 units
   */
  substitute(ranges: readonly SourceRange[], replacement: (index: number) => string): TracedText {
    let text = '';
    const sources: SourceRange[] = [];
    let at = 0;
    for (const [index, { end, start }] of ranges.entries()) {
      const inserted = replacement(index);
      text += this.text.slice(at, start) + inserted;
      sources.push(...this.#sources.slice(at, start));
      const source = this.source(start, end);
      for (let unit = 0; unit < inserted.length; unit += 1) sources.push(source);
      at = end;
    }
    sources.push(...this.#sources.slice(at));
    return new TracedText(text + this.text.slice(at), sources);
  }

  /**
   * Replaces each number, abbreviation and word by its English reading.
   * @param respell called with each reading that differs from the written word; may return another spelling of it
   */
  read(region: Region, respell = (spoken: string): string => spoken): TracedText {
    const parts: string[] = [];
    const sources: SourceRange[] = [];
    let at = 0;
    const keep = (end: number): void => {
      parts.push(silence(this.text.slice(at, end)));
      for (; at < end; at += 1) sources.push(this.source(at, at + 1));
    };
    for (const { start, end, spoken } of readEnglish(this.text, { region })) {
      keep(start);
      const isRead = spoken !== this.text.slice(start, end);
      const word = isRead ? respell(spoken) : spoken;
      // Two words that touch, such as the halves of a very long word, are separated.
      const inserted = word !== '' && parts.at(-1) === '' && parts.length > 1 ? ` ${word}` : word;
      parts.push(inserted);
      const source = this.source(start, end);
      for (let unit = 0; unit < inserted.length; unit += 1) sources.push(source);
      at = end;
    }
    keep(this.text.length);
    return new TracedText(parts.join(''), sources);
  }

  /** Converts a range of the rewritten text to the range of the original text from which it was made. */
  source(start: number, end: number): SourceRange {
    return {
      start: this.#sources[start]?.start ?? 0,
      end: this.#sources[end - 1]?.end ?? 0,
    };
  }
}
