import type { ItemLabel } from './html-writer.ts';
import type { Attributes } from './xml.ts';

interface Style {
  readonly name: string;
  readonly parent: string | undefined;
  isHidden: boolean | undefined;
  isRaised: boolean | undefined;
}

interface ListLevel {
  readonly type: ItemLabel['type'];
  readonly start: number;
}

/** Receives the elements of `styles.xml`, and those of the automatic styles in `content.xml`. */
export class OdtStyles {
  readonly #styles = new Map<string, Style>();
  // By the name of the list style and the level, from 1.
  readonly #levels = new Map<string, ListLevel>();
  #style: Style | undefined;
  #list = '';

  open(name: string, attributes: Attributes): void {
    const styleName = attributes['style:name'];
    if (name === 'style:style' && styleName !== undefined) this.#openStyle(styleName, attributes);
    else if (name === 'style:text-properties' && this.#style !== undefined) {
      const display = attributes['text:display'];
      if (display !== undefined) this.#style.isHidden = display === 'none';
      const position = attributes['style:text-position'];
      if (position !== undefined) this.#style.isRaised = /^(?:super|[1-9])/.test(position);
    } else if (name === 'text:list-style') this.#list = styleName ?? '';
    else if (name.startsWith('text:list-level-style-')) {
      const format = name.endsWith('-number') ? (attributes['style:num-format'] ?? '') : '';
      const type = format === '' ? undefined : /^a$/i.test(format) ? 'a' : '1';
      const start = Number(attributes['text:start-value'] ?? 1);
      this.#levels.set(`${this.#list} ${attributes['text:level'] ?? '1'}`, { type, start });
    }
  }

  close(name: string): void {
    if (name === 'style:style') this.#style = undefined;
  }

  /** Returns true if text in this style is not shown. */
  isHidden(style: string): boolean {
    return this.#inherited(style, ({ isHidden }) => isHidden) === true;
  }

  /** Returns true if text in this style is a superscript. */
  isRaised(style: string): boolean {
    return this.#inherited(style, ({ isRaised }) => isRaised) === true;
  }

  /** Returns true if paragraphs in this style are titles or captions. */
  isTitle(style: string): boolean {
    return (
      TITLES.has(style) ||
      this.#inherited(style, ({ name }) => TITLES.has(name) || undefined) === true
    );
  }

  /** Returns the label of the next item of a list. `number` is undefined for the first item. */
  label(list: string, level: number, number: number | undefined): ItemLabel {
    const { start, type } = this.#levels.get(`${list} ${level}`) ?? { start: 1, type: undefined };
    return { type, number: number ?? start };
  }

  #openStyle(name: string, attributes: Attributes): void {
    const parent = attributes['style:parent-style-name'];
    this.#style = { name, parent, isHidden: undefined, isRaised: undefined };
    this.#styles.set(name, this.#style);
  }

  // Returns the value of the style, or of the nearest ancestor that has one.
  #inherited<Value>(from: string, read: (style: Style) => Value | undefined): Value | undefined {
    let style = this.#styles.get(from);
    for (let step = 0; step < MOST_ANCESTORS && style !== undefined; step += 1) {
      const value = read(style);
      if (value !== undefined) return value;
      style = style.parent === undefined ? undefined : this.#styles.get(style.parent);
    }
    return undefined;
  }
}

const TITLES = new Set(['Caption', 'Subtitle', 'Title']);
const MOST_ANCESTORS = 20;
