import type { ItemLabel } from './html-writer.ts';
import type { Attributes } from './xml.ts';

interface Level {
  // Such as `decimal`, `upperLetter` or `bullet`.
  format: string;
  start: number;
  // Such as `%1.%2` or `Chapter %1`.
  text: string;
}

interface NumberedList {
  readonly abstract: string;
  readonly starts: Map<number, number>;
  hasBegun: boolean;
}

/** Number of a paragraph in a Word document. */
export interface ParagraphNumber extends ItemLabel {
  /** The number as it is shown, such as `1.2` or `Chapter 3`; empty for bullets. */
  readonly text: string;
}

/** Receives the elements of `numbering.xml`, and then counts the paragraphs of the lists. */
export class DocxNumbering {
  // By abstract list, by level from 0.
  readonly #levels = new Map<string, Map<number, Level>>();
  readonly #lists = new Map<string, NumberedList>();
  // The last number of each level of each abstract list.
  readonly #counts = new Map<string, number[]>();
  #abstract: Map<number, Level> | undefined;
  #list: NumberedList | undefined;
  #level: Level | undefined;
  #override = 0;
  #id = '';

  open(name: string, attributes: Attributes): void {
    const value = attributes['w:val'] ?? '';
    const id = attributes['w:abstractNumId'] ?? attributes['w:numId'] ?? '';
    const depth = Number(attributes['w:ilvl'] ?? 0);
    if (name === 'w:abstractNum') this.#levels.set(id, (this.#abstract = new Map<number, Level>()));
    else if (name === 'w:num') this.#id = id;
    else if (name === 'w:abstractNumId') {
      this.#list = { abstract: value, starts: new Map(), hasBegun: false };
      this.#lists.set(this.#id, this.#list);
    } else if (name === 'w:lvlOverride') this.#override = depth;
    else if (name === 'w:startOverride') this.#list?.starts.set(this.#override, Number(value));
    else if (name === 'w:lvl') this.#openLevel(depth);
    else if (name === 'w:start' && this.#level !== undefined) this.#level.start = Number(value);
    else if (name === 'w:numFmt' && this.#level !== undefined) this.#level.format = value;
    else if (name === 'w:lvlText' && this.#level !== undefined) this.#level.text = value;
  }

  close(name: string): void {
    if (name === 'w:abstractNum') this.#abstract = undefined;
    else if (name === 'w:lvl') this.#level = undefined;
  }

  /**
   * Returns the number of the next paragraph of a list, or undefined for an unknown list.
   * @param id number of the list, such as the value of `w:numId`
   * @param depth level in the list, from 0
   */
  next(id: string, depth: number): ParagraphNumber | undefined {
    const list = this.#lists.get(id);
    const levels = this.#levels.get(list?.abstract ?? '');
    if (list === undefined || levels === undefined) return undefined;
    const counts = this.#counts.get(list.abstract) ?? [];
    this.#counts.set(list.abstract, counts);
    if (!list.hasBegun) for (const [level, start] of list.starts) counts[level] = start - 1;
    list.hasBegun = true;
    counts.length = Math.min(counts.length, depth + 1);
    for (let level = 0; level <= depth; level += 1) {
      counts[level] ??= (levels.get(level)?.start ?? 1) - (level === depth ? 1 : 0);
    }
    const number = (counts[depth] ?? 0) + 1;
    counts[depth] = number;
    const { format, text } = levels.get(depth) ?? { format: 'bullet', text: '' };
    const isPlain = format === 'bullet' || format === 'none';
    const type = isPlain ? undefined : format.endsWith('Letter') ? 'a' : '1';
    return { type, number, text: isPlain ? '' : text.replaceAll(/%(\d)/g, shown) };

    function shown(_all: string, digit: string): string {
      const level = Number(digit) - 1;
      return formatNumber(counts[level] ?? 1, levels?.get(level)?.format ?? 'decimal');
    }
  }

  #openLevel(depth: number): void {
    this.#level = { format: 'decimal', start: 1, text: '' };
    this.#abstract?.set(depth, this.#level);
  }
}

function formatNumber(number: number, format: string): string {
  if (format === 'upperLetter' || format === 'lowerLetter') {
    const letter = String.fromCodePoint(65 + ((number - 1) % 26));
    return letter.repeat(Math.min(Math.ceil(number / 26), 9));
  }
  return String(number);
}
