import type { SpokenText } from '../document.ts';
import { plainText } from '../document.ts';
import { readHtml } from './html.ts';

/** The number or sign before an item of a list. */
export interface ItemLabel {
  /** `1` for numbers, `a` for letters; undefined for items without numbers. */
  readonly type: '1' | 'a' | undefined;
  readonly number: number;
}

/** Builds the HTML of a document in another format, so that the rules for HTML decide what is spoken. */
export class HtmlWriter {
  readonly #parts: string[] = [];
  // The levels of the headings, in order.
  readonly #levels: number[] = [];

  /** Adds HTML, such as the tag of a table. */
  add(html: string): void {
    this.#parts.push(html);
  }

  /** Adds a paragraph. `content` is inline HTML, here and below. */
  paragraph(content: string): void {
    if (content !== '') this.#parts.push('<p>', content, '</p>');
  }

  /** Adds a heading that may begin a chapter. `level` is 1 for the highest. */
  heading(level: number, content: string): void {
    if (!SPEAKABLE.test(content.replaceAll(/<[^<>]*>/g, ''))) return;
    this.#parts.push(`<h1 id="${this.#levels.length}">`, content, '</h1>');
    this.#levels.push(level);
  }

  /** Adds a title or caption, which begins no chapter. */
  title(content: string): void {
    this.#parts.push('<h1>', content, '</h1>');
  }

  /** Adds an item of a list. */
  item({ number, type }: ItemLabel, content: string): void {
    if (type === undefined) this.#parts.push('<ul><li>', content, '</li></ul>');
    else this.#parts.push(`<ol type="${type}"><li value="${number}">`, content, '</li></ol>');
  }

  /**
   * Returns the text: one for each chapter, and one for the text before the first chapter. The headings of the highest
   * level that occurs more than once begin the chapters; without such a level, returns one text without chapters.
   * @throws DocumentError
   */
  read(): readonly SpokenText[] {
    const places: number[] = [];
    const whole = readHtml(this.#parts.join(''), 'skip', (_id, paragraph) =>
      places.push(paragraph),
    );
    const chapterLevel = this.#levels
      .toSorted((a, b) => a - b)
      .find((level, at, sorted) => sorted[at + 1] === level);
    if (chapterLevel === undefined) return [whole];
    const starts = places.filter((_, at) => this.#levels[at] === chapterLevel);
    const paragraphs = whole.text.split('\n\n');
    const textOf = (from: number, to: number | undefined): SpokenText =>
      plainText(paragraphs.slice(from, to).join('\n\n'));
    const front = { ...textOf(0, starts[0]), chapters: [] };
    const chapters = starts.map((start, at) => {
      const title = (paragraphs[start] ?? '').replaceAll('\n', ' ').replace(/\.$/, '');
      return { ...textOf(start, starts[at + 1]), chapters: [{ title, at: 0 }] };
    });
    return starts[0] === 0 ? chapters : [front, ...chapters];
  }
}

const SPEAKABLE = /[\p{L}\p{N}]/u;

/** Returns HTML that shows `text`. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
