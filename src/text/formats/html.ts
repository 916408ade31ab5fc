import { Parser } from 'htmlparser2';
import type { SpokenText } from '../document.ts';
import { BlockWriter } from './block-writer.ts';
import { DocumentError } from './document-error.ts';
import type { CodeMode } from './text-formats.ts';

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
 * Adds the text of an HTML document or fragment to `writer`, and then ends the current block.
 * @throws DocumentError
 */
export function writeHtml(html: string, code: CodeMode, writer: BlockWriter, onId?: OnId): void {
  const reader = new HtmlReader(writer, code, onId);
  const parser = new Parser(reader, { recognizeSelfClosing: true });
  // In pieces, so that the parser does not copy the whole rest of the document.
  for (let at = 0; at < html.length; at += PIECE_UNITS) {
    parser.write(html.slice(at, at + PIECE_UNITS));
  }
  parser.end();
  reader.end();
}

const PIECE_UNITS = 1 << 16;

const MAX_DEPTH = 1_000;

const SILENT = new Set(
  `annotation annotation-xml audio button canvas datalist iframe map math nav noscript object rp rt
  script select style svg template textarea title video`.split(/\s+/),
);

const SENTENCES = new Set(`h1 h2 h3 h4 h5 h6 caption dt figcaption legend summary`.split(' '));

const BLOCKS = new Set(
  `address article aside blockquote body center dd details dialog div dl fieldset figure footer form
  header hgroup hr html main menu ol optgroup option p search section select table tbody tfoot thead
  ul`.split(/\s+/),
);

// Classes and roles of footnotes, of links to footnotes, and of links back to the text.
const FOOTNOTES = new Set(
  `doc-backlink doc-endnote doc-endnotes doc-footnote doc-noteref endnote endnotes footnote
  footnote-backref footnote-ref footnotes noteref rearnote rearnotes reversefootnote`.split(/\s+/),
);

type Attributes = Readonly<Record<string, string>>;

class HtmlReader {
  readonly #writer: BlockWriter;
  readonly #code: CodeMode;
  readonly #onId: OnId | undefined;
  #depth = 0;
  #silentFrom = 0;
  #codeFrom = 0;
  #codeText: string[] = [];
  readonly #sentences: string[] = [];
  #superscripts = 0;

  constructor(writer: BlockWriter, code: CodeMode, onId: OnId | undefined) {
    this.#writer = writer;
    this.#code = code;
    this.#onId = onId;
  }

  onopentag(name: string, attributes: Attributes): void {
    this.#begin(name, attributes);
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
    } else if (this.#codeFrom > 0) {
      if (name === 'br') this.#codeText.push('\n');
    } else if (name === 'pre') {
      this.#endBlock();
      this.#codeFrom = this.#depth;
    } else this.#open(name, attributes);
  }

  #open(name: string, attributes: Attributes): void {
    if (name === 'br') this.#writer.lineBreak();
    else if (name === 'img' || name === 'area') this.#writer.text(attributes['alt'] ?? '');
    else if (name === 'sup') this.#superscripts += 1;
    else if (SENTENCES.has(name) || name === 'li' || name === 'tr') {
      this.#endBlock();
      this.#sentences.push(name);
    } else if (BLOCKS.has(name) && !this.#isInRow()) this.#endBlock();
  }

  ontext(text: string): void {
    if (this.#silentFrom > 0) return;
    if (this.#codeFrom > 0) this.#codeText.push(text);
    else this.#writer.text(text);
  }

  onclosetag(name: string): void {
    if (this.#silentFrom > 0) {
      if (this.#depth === this.#silentFrom) this.#silentFrom = 0;
    } else if (this.#codeFrom > 0) {
      if (this.#depth === this.#codeFrom) this.#endCode();
    } else this.#close(name);
    this.#depth -= 1;
  }

  #close(name: string): void {
    if (name === 'sup') this.#superscripts -= 1;
    else if (name === 'td' || name === 'th') this.#writer.endCell();
    else if (SENTENCES.has(name) || name === 'li' || name === 'tr') {
      this.#endBlock();
      this.#sentences.pop();
    } else if (BLOCKS.has(name)) {
      if (this.#isInRow()) this.#writer.text(' ');
      else this.#endBlock();
    }
  }

  onprocessinginstruction(name: string, data: string): void {
    if (name.toLowerCase() !== '!doctype' || !data.includes('[')) return;
    throw new DocumentError('the DOCTYPE has declarations, which are not supported', {
      hint: 'Remove the part of the DOCTYPE in square brackets.',
    });
  }

  end(): void {
    if (this.#codeFrom > 0) this.#endCode();
    this.#endBlock();
  }

  #endCode(): void {
    this.#codeFrom = 0;
    this.#writer.code(this.#codeText.join(''), this.#code);
    this.#codeText = [];
  }

  #endBlock(): void {
    const inside = this.#sentences.at(-1);
    const isItem = inside === 'li' || inside === 'tr';
    this.#writer.end(isItem ? 'item' : inside === undefined ? 'paragraph' : 'sentence');
  }

  #isInRow(): boolean {
    return this.#sentences.at(-1) === 'tr';
  }

  #isSilent(name: string, attributes: Attributes): boolean {
    if (SILENT.has(name)) return true;
    if ('hidden' in attributes || attributes['aria-hidden'] === 'true') return true;
    if ('data-footnotes' in attributes || 'data-footnote-ref' in attributes) return true;
    // A superscript link within the page is the number of a footnote.
    if (name === 'a' && this.#superscripts > 0 && attributes['href']?.includes('#') === true) {
      return true;
    }
    const names = `${attributes['class'] ?? ''} ${attributes['role'] ?? ''} ${attributes['epub:type'] ?? ''}`;
    return names.split(/\s+/).some((one) => FOOTNOTES.has(one));
  }
}
