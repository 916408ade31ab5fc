import { MAX_CONTENT_BYTES, openArchive } from './archive.ts';
import { localName } from './epub-contents.ts';
import type { BookDetails } from './epub-details.ts';
import { readBookDetails } from './epub-details.ts';
import { fb2Xml } from './fb2.ts';
import type { BookFormat } from './text-formats.ts';
import { readXml } from './xml.ts';

/**
 * Reads what a document says about itself: the Dublin Core properties of a Word document (ECMA-376, part 2, section 10) or
 * an OpenDocument text (OpenDocument 1.3, part 3, section 4.3), and the `title-info` of a FictionBook.
 * @returns nothing for Rich Text
 * @throws DocumentError
 */
export async function readDetails(format: BookFormat, bytes: Uint8Array): Promise<BookDetails> {
  switch (format) {
    case 'epub':
      return readBookDetails(bytes);
    case 'docx':
      return readProperties(bytes, 'docProps/core.xml', ['creator']);
    case 'odt':
      // The creator of the properties is who saved the document last.
      return readProperties(bytes, 'meta.xml', ['initial-creator', 'creator']);
    case 'fb2':
      return readTitleInfo(await fb2Xml(bytes));
    case 'rtf':
      return {};
  }
}

async function readProperties(
  bytes: Uint8Array,
  name: string,
  authors: readonly string[],
): Promise<BookDetails> {
  const archive = await openArchive(bytes, 'a document', 'the document');
  const file = archive.find(name);
  if (!archive.has(file)) return {};
  const found = new Map<string, string>();
  let open: string | undefined;
  readXml(await archive.read(file, MAX_CONTENT_BYTES), {
    open: (element) => (open = localName(element)),
    close: () => (open = undefined),
    text(text) {
      if (open !== undefined) found.set(open, `${found.get(open) ?? ''}${text}`);
    },
  });
  const names = authors.map((author) => oneLine(found.get(author)));
  return { title: oneLine(found.get('title')), author: names.find((one) => one !== undefined) };
}

function readTitleInfo(xml: string): BookDetails {
  const reader = new TitleInfoReader();
  readXml(xml, reader);
  const { authors, cover, title } = reader;
  const names = authors.map((parts) => parts.map((part) => part.trim()).join(' '));
  return {
    title: oneLine(title),
    author: oneLine(names.filter((name) => name.trim() !== '').join(', ')),
    cover: cover === '' ? undefined : Buffer.from(cover, 'base64'),
  };
}

class TitleInfoReader {
  title = '';
  /** The parts of the name of each author. */
  readonly authors: string[][] = [];
  /** The picture in Base64. */
  cover = '';
  readonly #path: string[] = [];
  #coverId: string | undefined;
  #isCover = false;

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const tag = localName(name);
    this.#path.push(tag);
    if (tag === 'binary') this.#isCover = attributes['id'] === this.#coverId;
    else if (!this.#path.includes('title-info')) return;
    else if (tag === 'author') this.authors.push([]);
    else if (this.#isName()) this.authors.at(-1)?.push('');
    else if (tag === 'image' && this.#path.includes('coverpage')) {
      const link = Object.entries(attributes).find(([key]) => localName(key) === 'href')?.[1];
      this.#coverId ??= link?.replace(/^#/, '');
    }
  }

  close(): void {
    if (this.#path.pop() === 'binary') this.#isCover = false;
  }

  text(text: string): void {
    const tag = this.#path.at(-1) ?? '';
    if (this.#isCover && tag === 'binary') this.cover += text;
    if (!this.#path.includes('title-info')) return;
    if (tag === 'book-title') this.title += text;
    const parts = this.authors.at(-1);
    if (this.#isName() && parts !== undefined) parts.push(`${parts.pop() ?? ''}${text}`);
  }

  #isName(): boolean {
    const [person, part = ''] = this.#path.slice(-2);
    return person === 'author' && NAME_PARTS.has(part);
  }
}

const NAME_PARTS = new Set(['first-name', 'last-name', 'middle-name', 'nickname']);

function oneLine(text = ''): string | undefined {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line === '' ? undefined : line;
}
