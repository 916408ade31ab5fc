import { Parser } from 'htmlparser2';
import type { SpokenText } from '../document.ts';
import { BlockWriter } from './block-writer.ts';
import { DocumentError } from './document-error.ts';
import { isLatex, latexText, LONGEST_LATEX } from './formula.ts';
import { ListNumbers, reversedCounts } from './list-numbers.ts';
import { MarkFilter } from './mark-filter.ts';
import { MathReader } from './mathml.ts';
import type { CodeMode } from './text-formats.ts';
import type { PieceSource, TextOrigin } from './text-origins.ts';
import type { Attributes } from './xml.ts';

/**
 * Called for each element that has an `id` or `name` attribute. `paragraph` is the index, from 0, of the first paragraph
 * that begins at the element or after it.
 */
export type OnId = (id: string, paragraph: number) => void;

/** Extracts the text of an HTML or XHTML document. @throws DocumentError */
export function readHtml(html: string, code: CodeMode, onId?: OnId): SpokenText {
  const writer = new BlockWriter();
  writeHtml(html, code, writer, onId);
  return writer.finish();
}

/**
 * Extracts the text of an HTML or XHTML document as `readHtml` does, and finds the place of each word in the document.
 * The range of an image or a formula begins with its element, and may end before it.
 * @throws DocumentError
 */
export function readHtmlOrigins(html: string): {
  readonly text: string;
  readonly origins: readonly TextOrigin[];
} {
  const writer = new BlockWriter();
  writeHtml(html, 'skip', writer, undefined, true);
  return { text: writer.finish().text, origins: writer.origins };
}

/**
 * Adds the text of an HTML document or fragment to `writer`, and then ends the current block.
 * @param locatesWords whether the writer gets the place of each word
 * @throws DocumentError
 */
export function writeHtml(
  html: string,
  code: CodeMode,
  writer: BlockWriter,
  onId?: OnId,
  locatesWords = false,
): void {
  const reader = new HtmlReader(writer, code, onId, reversedCounts(html));
  const parser = new Parser(reader, {
    recognizeSelfClosing: true,
    recognizeCDATA: IS_XHTML.test(html.slice(0, HEAD_UNITS)),
  });
  if (locatesWords) reader.locateWords(parser);
  // In pieces, so that the parser does not copy the whole rest of the document.
  for (let at = 0; at < html.length; at += PIECE_UNITS) {
    parser.write(html.slice(at, at + PIECE_UNITS));
  }
  parser.end();
  reader.end();
}

const PIECE_UNITS = 1 << 16;
const HEAD_UNITS = 2_000;
const IS_XHTML = /^\s*<\?xml|\sxmlns(?::\w+)?=["']http:\/\/www\.w3\.org\/1999\/xhtml["']/;

const MAX_DEPTH = 1_000;

const SILENT = new Set(
  `audio button canvas datalist epub:case iframe map nav noscript object rp rt script select style svg template
  textarea title video`.split(/\s+/),
);

const SENTENCES = new Set(`h1 h2 h3 h4 h5 h6 caption dt figcaption legend summary`.split(' '));

const BLOCKS = new Set(
  `address article aside blockquote body center dd details dialog div dl fieldset figure footer form
  header hgroup hr html main menu ol optgroup option p search section select table tbody tfoot thead
  ul`.split(/\s+/),
);

// Classes and roles of footnotes, of links to footnotes, and of links back to the text.
const FOOTNOTES = new Set(
  `doc-backlink doc-endnote doc-endnotes doc-footnote doc-noteref endnote endnotes fnanchor footnote
  footnote-back footnote-backref footnote-ref footnotes noteref rearnote rearnotes reversefootnote`.split(
    /\s+/,
  ),
);

const PAGE_BREAKS = new Set(
  `doc-pagebreak page-break page-number page_number pagebreak pagenum pagenumber pageno`.split(' '),
);
const SUPERSCRIPTS = new Set(['sup', 'super', 'superscript']);

// Namespaces whose elements may have a prefix.
const NAMESPACE = /^http:\/\/www\.w3\.org\/(?:1999\/xhtml|1998\/Math\/MathML|2000\/svg)$/;

/** Receives the elements and the text of HTML in document order, and writes what is spoken. */
export class HtmlReader {
  readonly #writer: BlockWriter;
  readonly #marks: MarkFilter;
  readonly #code: CodeMode;
  readonly #onId: OnId | undefined;
  readonly #prefixes = new Set<string>();
  #depth = 0;
  #silentFrom = 0;
  #codeFrom = 0;
  #codeText: string[] = [];
  #math:
    | { readonly reader: MathReader; readonly depth: number; readonly start: number }
    | undefined;
  #parser: Parser | undefined;
  readonly #sentences: string[] = [];
  readonly #lists: ListNumbers[] = [];
  readonly #itemCounts: readonly number[];
  #reversedLists = 0;

  /** @param itemCounts number of items of each list with the attribute `reversed`, if they are known */
  constructor(
    writer: BlockWriter,
    code: CodeMode,
    onId?: OnId,
    itemCounts: readonly number[] = [],
  ) {
    this.#writer = writer;
    this.#marks = new MarkFilter(writer);
    this.#code = code;
    this.#onId = onId;
    this.#itemCounts = itemCounts;
  }

  /** Finds the place of each word from now on, which needs as much memory as the text. */
  locateWords(parser: Parser): void {
    this.#parser = parser;
  }

  onopentag(name: string, attributes: Attributes): void {
    this.#declare(attributes);
    if (name === 'ol' && 'reversed' in attributes) this.#reversedLists += 1;
    this.#begin(this.#localName(name), attributes);
    const id = attributes['id'] ?? attributes['name'];
    if (id !== undefined) this.#onId?.(id, this.#writer.paragraphs);
  }

  #begin(name: string, attributes: Attributes): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) {
      throw new DocumentError(`elements are nested more than ${MAX_DEPTH} levels deep`);
    }
    if (this.#silentFrom > 0) return;
    if (this.#isSilent(name, attributes)) {
      if (BLOCKS.has(name)) this.#endBlock();
      this.#silentFrom = this.#depth;
    } else if (this.#math !== undefined) this.#math.reader.open(name);
    else if (this.#codeFrom > 0) {
      if (name === 'br') this.#codeText.push('\n');
    } else if (name === 'pre') {
      this.#endBlock();
      this.#codeFrom = this.#depth;
    } else this.#open(name, attributes);
  }

  #open(name: string, attributes: Attributes): void {
    if (name === 'br') {
      this.#marks.flush();
      this.#writer.lineBreak();
    } else if (name === 'img' || name === 'area') this.#image(attributes['alt'] ?? '');
    else if (name === 'math') this.#beginMath(attributes['alttext'] ?? '');
    else if (SENTENCES.has(name) || name === 'li' || name === 'tr') {
      this.#endBlock();
      this.#sentences.push(name);
      if (name === 'li') this.#writer.label(this.#lists.at(-1)?.next(attributes['value']) ?? '');
    } else if (BLOCKS.has(name) && !this.#isInRow()) {
      this.#endBlock();
      if (name === 'ol' || name === 'ul') {
        const count = this.#itemCounts[this.#reversedLists - 1];
        this.#lists.push(new ListNumbers(name, attributes, count));
      }
    }
    const names = namesOf(attributes);
    if (name === 'sup' || names.some((one) => SUPERSCRIPTS.has(one))) {
      this.#marks.open('superscript', this.#depth);
    } else if (name === 'pagenum' || names.some((one) => PAGE_BREAKS.has(one))) {
      this.#marks.open('page', this.#depth);
    } else if (name === 'a' && attributes['href']?.includes('#') === true) {
      this.#marks.open('link', this.#depth);
    }
  }

  #image(alternative: string): void {
    this.#marks.flush();
    const isFormula = alternative.length <= LONGEST_LATEX && isLatex(alternative);
    const text = isFormula ? latexText(alternative) : alternative;
    this.#writer.text(text, this.#sourceOf(text));
  }

  #beginMath(alternative: string): void {
    this.#marks.flush();
    if (alternative.trim() === '' || isLatex(alternative)) {
      const start = this.#parser?.startIndex ?? 0;
      this.#math = { reader: new MathReader(), depth: this.#depth, start };
      return;
    }
    this.#writeFormula(alternative, this.#sourceOf(alternative));
    this.#silentFrom = this.#depth;
  }

  #writeFormula(formula: string, sources: readonly PieceSource[]): void {
    this.#writer.imageEdge();
    this.#writer.text(formula, sources);
    this.#writer.imageEdge();
  }

  // Returns the place of a text that the current event of the parser contains.
  #sourceOf(text: string, from?: number): PieceSource[] {
    if (this.#parser === undefined) return [];
    const { endIndex, startIndex } = this.#parser;
    return [{ length: text.length, start: from ?? startIndex, end: endIndex + 1 }];
  }

  ontext(text: string): void {
    if (this.#silentFrom > 0) return;
    if (this.#math !== undefined) this.#math.reader.text(text);
    else if (this.#codeFrom > 0) this.#codeText.push(text);
    else this.#marks.text(text, this.#sourceOf(text));
  }

  onclosetag(name: string): void {
    if (this.#silentFrom > 0) {
      if (this.#depth === this.#silentFrom) this.#silentFrom = 0;
    } else if (this.#math !== undefined) {
      if (this.#depth === this.#math.depth) this.#endMath();
      else this.#math.reader.close();
    } else if (this.#codeFrom > 0) {
      if (this.#depth === this.#codeFrom) this.#endCode();
    } else this.#close(this.#localName(name));
    this.#depth -= 1;
  }

  #close(name: string): void {
    this.#marks.close(this.#depth);
    if (name === 'td' || name === 'th') {
      this.#marks.flush();
      this.#writer.endCell();
    } else if (SENTENCES.has(name) || name === 'li' || name === 'tr') {
      this.#endBlock();
      this.#sentences.pop();
      if (name === 'li') this.#writer.label('');
    } else if (BLOCKS.has(name)) {
      if (this.#isInRow()) this.#marks.text(' ');
      else {
        this.#endBlock();
        if (name === 'ol' || name === 'ul') this.#lists.pop();
      }
    }
  }

  onprocessinginstruction(name: string, data: string): void {
    if (name.toLowerCase() !== '!doctype' || !data.includes('[')) return;
    throw new DocumentError('the DOCTYPE has declarations, which are not supported', {
      hint: 'Remove the part of the DOCTYPE in square brackets.',
    });
  }

  /** Ends the document, and the current block. */
  end(): void {
    if (this.#math !== undefined) this.#endMath();
    if (this.#codeFrom > 0) this.#endCode();
    this.#endBlock();
  }

  /** Writes what waits for the following text, so that other text or a mark may follow. */
  flush(): void {
    this.#marks.flush();
  }

  #endMath(): void {
    const { reader, start } = this.#math ?? {};
    const formula = reader?.finish() ?? '';
    this.#math = undefined;
    this.#writeFormula(formula, this.#sourceOf(formula, start));
  }

  #endCode(): void {
    this.#codeFrom = 0;
    this.#writer.code(this.#codeText.join(''), this.#code);
    this.#codeText = [];
  }

  #endBlock(): void {
    this.#marks.flush();
    const inside = this.#sentences.at(-1);
    const isItem = inside === 'li' || inside === 'tr';
    this.#writer.end(isItem ? 'item' : inside === undefined ? 'paragraph' : 'sentence');
  }

  #isInRow(): boolean {
    return this.#sentences.at(-1) === 'tr';
  }

  #declare(attributes: Attributes): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith('xmlns:') && NAMESPACE.test(value)) this.#prefixes.add(name.slice(6));
    }
  }

  #localName(name: string): string {
    const colon = name.indexOf(':');
    return colon > 0 && this.#prefixes.has(name.slice(0, colon)) ? name.slice(colon + 1) : name;
  }

  #isSilent(name: string, attributes: Attributes): boolean {
    if (SILENT.has(name)) return true;
    if ('hidden' in attributes || attributes['aria-hidden'] === 'true') return true;
    if (/display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes['style'] ?? '')) return true;
    if ('data-footnotes' in attributes || 'data-footnote-ref' in attributes) return true;
    // A superscript link within the page is the number of a footnote.
    const isLink = name === 'a' && attributes['href']?.includes('#') === true;
    return (
      (isLink && this.#marks.isRaised) || namesOf(attributes).some((one) => FOOTNOTES.has(one))
    );
  }
}

function namesOf(attributes: Attributes): readonly string[] {
  const { class: classes = '', role = '', 'epub:type': type = '' } = attributes;
  return classes === '' && role === '' && type === ''
    ? []
    : `${classes} ${role} ${type}`.split(/\s+/);
}
