import type { SpokenText } from '../document.ts';
import { MAX_CONTENT_BYTES, openArchive } from './archive.ts';
import { decodeMarkup } from './decode-markup.ts';
import { DocumentError } from './document-error.ts';
import { localName } from './epub-contents.ts';
import { escapeHtml, HtmlWriter } from './html-writer.ts';
import { readXml } from './xml.ts';

/**
 * Extracts the text of a FictionBook, or of a zip archive with one. Leaves out the notes, which are bodies of their own.
 * @returns one text for each chapter: the titles of sections are its headings
 * @throws DocumentError, TextEncodingError
 */
export async function readFb2(bytes: Uint8Array): Promise<readonly SpokenText[]> {
  const reader = new Fb2Reader();
  readXml(await fb2Xml(bytes), reader);
  if (!reader.hasBody) throw new DocumentError('not a FictionBook: it has no element <body>');
  return reader.html.read();
}

/** Returns the text of a FictionBook, or of the one in a zip archive. @throws DocumentError, TextEncodingError */
export async function fb2Xml(bytes: Uint8Array): Promise<string> {
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) return decodeMarkup(bytes);
  const archive = await openArchive(bytes, 'a FictionBook', 'the archive');
  const [book, another] = archive.names.filter((file) => /\.fb2$/i.test(file));
  if (book !== undefined && another === undefined) return archive.read(book, MAX_CONTENT_BYTES);
  throw new DocumentError(
    `the archive has ${book === undefined ? 'no file' : 'several files'} with the extension .fb2`,
    { hint: 'Extract the book from it.' },
  );
}

class Fb2Reader {
  readonly html = new HtmlWriter();
  hasBody = false;
  #silent = 0;
  #sections = 0;
  #poems = 0;
  // The paragraphs of the open title; undefined outside of a title.
  #title: string[] | undefined;
  #inline: string[] = [];

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const tag = localName(name);
    const isNotes = tag === 'body' && NOTES.test(attributes['name'] ?? '');
    const isMark = tag === 'a' && attributes['type'] === 'note';
    if (this.#silent > 0 || isNotes || isMark || SILENT.has(tag)) this.#silent += 1;
    else if (tag === 'section') this.#sections += 1;
    else if (tag === 'poem') this.#poems += 1;
    else if (tag === 'body') this.hasBody = true;
    else if (tag === 'title') this.#title = [];
    else if (BLOCKS.has(tag)) this.#inline = [];
    else if (tag === 'stanza') this.html.add('<p>');
    else if (tag === 'image') this.#image(attributes['alt'] ?? '');
    else this.#tag(tag, attributes);
  }

  close(name: string): void {
    const tag = localName(name);
    if (this.#silent > 0) this.#silent -= 1;
    else if (tag === 'section') this.#sections -= 1;
    else if (tag === 'poem') this.#poems -= 1;
    else if (tag === 'title') this.#endTitle();
    else if (BLOCKS.has(tag)) this.#endBlock(tag);
    else if (tag === 'stanza') this.html.add('</p>');
    else if (INLINE.has(tag)) this.#inline.push(`</${tag}>`);
    else if (TABLE.has(tag)) this.#endCell(tag);
  }

  text(text: string): void {
    if (this.#silent === 0) this.#inline.push(escapeHtml(text));
  }

  #tag(tag: string, attributes: Readonly<Record<string, string>>): void {
    const link = Object.entries(attributes).find(([key]) => localName(key) === 'href')?.[1] ?? '';
    if (tag === 'a') this.#inline.push(`<a href="${escapeHtml(link)}">`);
    else if (INLINE.has(tag)) this.#inline.push(`<${tag}>`);
    else if (TABLE.has(tag)) {
      this.html.add(`<${tag}>`);
      this.#inline = [];
    }
  }

  #image(alternative: string): void {
    const image = `<img alt="${escapeHtml(alternative)}">`;
    if (alternative !== '') this.#inline.push(image);
  }

  #endBlock(tag: string): void {
    const content = this.#inline.join('');
    this.#inline = [];
    if (this.#title !== undefined) this.#title.push(content);
    else if (tag === 'subtitle') this.html.title(content);
    else if (tag === 'v') this.html.add(`${content}<br>`);
    else this.html.paragraph(content);
  }

  // The title of a body is that of the book. A poem is no chapter.
  #endTitle(): void {
    const rows = (this.#title ?? []).map((row) => row.trim()).filter((row) => row !== '');
    this.#title = undefined;
    const content = rows.map((row) => (ENDS_WITH_MARK.test(row) ? row : `${row}.`)).join(' ');
    if (this.#sections === 0 || this.#poems > 0) this.html.title(content);
    else this.html.heading(this.#sections, content);
  }

  #endCell(tag: string): void {
    if (tag === 'td' || tag === 'th') this.html.add(this.#inline.join(''));
    this.#inline = [];
    this.html.add(`</${tag}>`);
  }
}

const ENDS_WITH_MARK = /[.!?…:;,]$/;
const NOTES = /^(?:(?:foot|end)?notes|comments)$/i;
const SILENT = new Set(['annotation', 'binary', 'description', 'stylesheet']);
const BLOCKS = new Set(['p', 'subtitle', 'text-author', 'v']);
const INLINE = new Set(['a', 'code', 'sub', 'sup']);
const TABLE = new Set(['table', 'td', 'th', 'tr']);
