import sax from 'sax';
import type { SAXParser } from 'sax';
import { DocumentError } from './document-error.ts';

/** The attributes of an element of XML or HTML, by name. */
export type Attributes = Readonly<Record<string, string>>;

/** Receives the content of an XML document; lines are numbered from 1. */
export interface XmlHandler {
  open(name: string, attributes: Attributes, line: number): void;
  close?(name: string): void;
  text?(text: string): void;
}

const MAX_DEPTH = 1_000;

/**
 * Reads XML strictly. Refuses entity declarations, because expanded entities could grow without limit. The time is
 * proportional to the length.
 * @throws DocumentError that names the line
 */
export function readXml(xml: string, handler: XmlHandler): void {
  refuseDeclarations(xml);
  const parser = sax.parser(true, { position: true });
  let depth = 0;
  const lineOf = (): number => parser.line + 1;
  const events: Partial<SAXParser> = {
    onopentag({ attributes, name }) {
      depth += 1;
      if (depth > MAX_DEPTH) {
        throw new DocumentError(`elements are nested more than ${MAX_DEPTH} levels deep`, {
          line: lineOf(),
        });
      }
      const texts = Object.entries(attributes).map(([key, value]) => [key, String(value)]);
      handler.open(name, Object.fromEntries(texts), lineOf());
    },
    onclosetag(name) {
      depth -= 1;
      handler.close?.(name);
    },
    ontext: (text) => handler.text?.(text),
    oncdata: (text) => handler.text?.(text),
    ondoctype(declaration) {
      if (!declaration.includes('[')) return;
      throw new DocumentError('the DOCTYPE has declarations, which are not supported', {
        line: lineOf(),
        hint: 'Remove the part of the DOCTYPE in square brackets.',
      });
    },
    onerror(error) {
      const [reason = ''] = error.message.split('\n');
      throw new DocumentError(`not well-formed XML: ${reason}`, { line: lineOf() });
    },
  };
  Object.assign(parser, events);
  // In pieces, because the parser limits what it buffers only between writes.
  try {
    for (let at = 0; at < xml.length; at += PIECE_UNITS)
      parser.write(xml.slice(at, at + PIECE_UNITS));
    parser.close();
  } catch (error) {
    // The parser itself fails for an attribute that is called `hasOwnProperty`.
    if (!(error instanceof TypeError)) throw error;
    throw new DocumentError('not well-formed XML', { line: lineOf() });
  }
}

const PIECE_UNITS = 1 << 14;

// The parser takes quadratic time for long declarations, which are allowed only within a DOCTYPE.
function refuseDeclarations(xml: string): void {
  const special = /<[!?]/g;
  for (let match = special.exec(xml); match !== null; match = special.exec(xml)) {
    const { index: at } = match;
    const closing = CLOSINGS.find(({ opening }) => xml.startsWith(opening, at))?.closing;
    if (closing === undefined) {
      const isDoctype = /^<!DOCTYPE/i.test(xml.slice(at, at + 9));
      // The parser refuses a DOCTYPE with declarations at its end.
      if (isDoctype && xml.slice(at, xml.indexOf('>', at)).includes('[')) return;
      if (!isDoctype) {
        throw new DocumentError('not well-formed XML: a declaration that is no DOCTYPE', {
          line: xml.slice(0, at).split('\n').length,
        });
      }
    }
    // The parser refuses what has no end.
    const end = xml.indexOf(closing ?? '>', at);
    if (end === -1) return;
    special.lastIndex = end;
  }
}

const CLOSINGS = [
  { opening: '<!--', closing: '-->' },
  { opening: '<![CDATA[', closing: ']]>' },
  { opening: '<?', closing: '?>' },
] as const;
