import { Parser } from 'htmlparser2';
import { DocumentError } from '../text/formats/document-error.ts';

/** An element of an XHTML document, with the positions of its tags in UTF-16 units. */
export interface TreeElement {
  /** Name without a prefix. */
  readonly name: string;
  /** Prefix of the name with its colon, such as `h:`; empty if there is none. */
  readonly prefix: string;
  readonly id: string | undefined;
  readonly parent: TreeElement | undefined;
  /** Start of the first tag, and the position after the last tag. */
  readonly start: number;
  end: number;
  readonly children: TreeElement[];
}

/** The elements of an XHTML document. */
export interface ElementTree {
  /** Contains the elements of the document as its children. */
  readonly root: TreeElement;
  readonly ids: ReadonlySet<string>;
  /** Whether the document has or names a style sheet. */
  readonly hasStyle: boolean;
}

/**
 * Finds the elements of an XHTML document and their positions.
 * @throws DocumentError if an element has no end tag
 */
export function readElements(xhtml: string): ElementTree {
  const root: TreeElement = {
    name: '',
    prefix: '',
    id: undefined,
    parent: undefined,
    start: 0,
    end: xhtml.length,
    children: [],
  };
  const ids = new Set<string>();
  let hasStyle = false;
  let open = root;
  const parser: Parser = new Parser(
    {
      onopentag(name, attributes) {
        const { id } = attributes;
        if (id !== undefined) ids.add(id);
        const colon = name.indexOf(':') + 1;
        const element: TreeElement = {
          name: name.slice(colon),
          prefix: name.slice(0, colon),
          id,
          parent: open,
          start: parser.startIndex,
          end: xhtml.length,
          children: [],
        };
        hasStyle ||= isStyle(element.name, attributes);
        open.children.push(element);
        open = element;
      },
      onclosetag(name) {
        const end = xhtml.indexOf('>', parser.endIndex) + 1;
        if (!isClosedHere(xhtml, name, end)) {
          const line = xhtml.slice(0, open.start).split('\n').length;
          throw new DocumentError(`not well-formed XHTML: <${name}> has no end tag`, { line });
        }
        open.end = end;
        open = open.parent ?? root;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  for (let at = 0; at < xhtml.length; at += PIECE_UNITS) {
    parser.write(xhtml.slice(at, at + PIECE_UNITS));
  }
  parser.end();
  return { root, ids, hasStyle };
}

// The parser would copy the rest of a longer document again and again.
const PIECE_UNITS = 1 << 16;

// The parser also closes elements that have no end tag, at the end tag of an outer element or of the document.
function isClosedHere(xhtml: string, name: string, end: number): boolean {
  if (xhtml.charAt(end - 1) !== '>') return false;
  if (xhtml.charAt(end - 2) === '/') return true;
  const tag = xhtml.slice(xhtml.lastIndexOf('<', end - 1), end);
  return tag.startsWith(`</${name}`) && tag.slice(2 + name.length, -1).trim() === '';
}

// The attribute `style` names no classes.
function isStyle(name: string, { rel = '' }: Readonly<Record<string, string>>): boolean {
  if (name === 'style') return true;
  return name === 'link' && rel.toLowerCase().split(/\s+/).includes('stylesheet');
}

/** Returns true for an element that may stand in a line of text, such as `em`. */
export function isInline({ name }: TreeElement): boolean {
  return INLINE.has(name);
}

// Phrasing content of HTML, without elements that nothing may follow, such as those of the head.
const INLINE = new Set(
  `a abbr audio b bdi bdo br button canvas cite code data del dfn em i iframe img input ins kbd label map mark math
  meter noscript object output picture progress q rb rp rt rtc ruby s samp script select small span strong sub sup svg
  template textarea time tt u var video wbr`.split(/\s+/),
);
