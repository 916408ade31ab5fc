import type { Attributes } from './xml.ts';

/** The properties of a paragraph or run that decide how it is spoken. */
export interface DocxProperties {
  /** Level of a heading from 1; 10 for body text. */
  level?: number;
  isHidden?: boolean;
  isRaised?: boolean;
  /** Number of the list; `0` for none. */
  list?: string;
  /** Level in the list, from 0. */
  depth?: number;
  /** Whether the paragraph is a title or caption. */
  isTitle?: boolean;
}

interface Style extends DocxProperties {
  name: string;
  parent: string | undefined;
}

/** Receives the elements of `styles.xml`. */
export class DocxStyles {
  readonly #styles = new Map<string, Style>();
  #style: Style | undefined;

  open(name: string, attributes: Attributes): void {
    if (name === 'w:style') {
      this.#style = { name: '', parent: undefined };
      this.#styles.set(attributes['w:styleId'] ?? '', this.#style);
    } else if (this.#style === undefined) return;
    else if (name === 'w:name') this.#nameStyle(this.#style, attributes['w:val'] ?? '');
    else if (name === 'w:basedOn') this.#style.parent = attributes['w:val'];
    else readProperty(this.#style, name, attributes);
  }

  close(name: string): void {
    if (name === 'w:style') this.#style = undefined;
  }

  /** Returns the English name of a style in lower case, such as `heading 1` or `toc 2`. */
  nameOf(style: string | undefined): string {
    return this.#styles.get(style ?? '')?.name ?? (style ?? '').toLowerCase();
  }

  /** Returns a property of a style, or of the nearest style that it is based on. */
  property<Key extends keyof DocxProperties>(
    from: string | undefined,
    key: Key,
  ): DocxProperties[Key] | undefined {
    let style = this.#styles.get(from ?? '');
    for (let step = 0; step < MOST_ANCESTORS && style !== undefined; step += 1) {
      if (style[key] !== undefined) return style[key];
      style = this.#styles.get(style.parent ?? '');
    }
    return undefined;
  }

  #nameStyle(style: Style, name: string): void {
    style.name = name.toLowerCase();
    const level = /^heading ([1-9])$/.exec(style.name)?.[1];
    if (level !== undefined) style.level ??= Number(level);
    if (TITLE.test(style.name)) style.isTitle = true;
  }
}

const TITLE = /^(?:caption|subtitle|title)$/;
const MOST_ANCESTORS = 20;

/** Sets the property that an element of paragraph or run properties contains, such as `w:vanish`. */
export function readProperty(
  properties: DocxProperties,
  name: string,
  attributes: Attributes,
): void {
  const value = attributes['w:val'];
  if (name === 'w:outlineLvl') properties.level = Number(value) + 1;
  else if (name === 'w:vanish') properties.isHidden = isOn(value);
  else if (name === 'w:webHidden' && isOn(value)) properties.isHidden = true;
  else if (name === 'w:vertAlign') properties.isRaised = value === 'superscript';
  else if (name === 'w:numId' && value !== undefined) properties.list = value;
  else if (name === 'w:ilvl') properties.depth = Number(value);
}

function isOn(value: string | undefined): boolean {
  return value === undefined || !/^(?:0|false|off|none)$/.test(value);
}
