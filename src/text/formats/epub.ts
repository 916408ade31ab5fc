import { posix } from 'node:path';
import type { Entry, ZipFile } from 'yauzl';
import { Parser } from 'htmlparser2';
import { fromBufferPromise } from 'yauzl';
import { decodeUtf8 } from '../decode.ts';
import type { SpokenText } from '../document.ts';
import { DocumentError } from './document-error.ts';
import type { OnId } from './html.ts';
import { readHtml } from './html.ts';
import type { CodeMode } from './text-formats.ts';
import { readXml } from './xml.ts';

// These limits stop compressed files that expand without end.
const MAX_FILES = 20_000;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_BOOK_BYTES = 32 * 1024 * 1024;

/**
 * Extracts the text of each file in the spine of an EPUB, in order. If the book has a table of contents, each text
 * lists the chapters that begin in it.
 * @throws DocumentError
 */
export async function readEpub(book: Uint8Array, code: CodeMode): Promise<readonly SpokenText[]> {
  const archive = await openArchive(book);
  const packagePath = packagePathOf(await archive.read('META-INF/container.xml'));
  const { contents, spine } = packageOf(await archive.read(packagePath), packagePath);
  const entries = await contentsOf(archive, { contents, spine });
  const encrypted = archive.has(ENCRYPTION)
    ? encryptedPaths(await archive.read(ENCRYPTION))
    : new Set();
  const chapters: SpokenText[] = [];
  for (const chapter of spine) {
    if (encrypted.has(chapter)) {
      throw new DocumentError(`the book is encrypted: ${chapter}`, {
        hint: 'Use a copy without copy protection.',
      });
    }
    const places = new Map<string, number>();
    const text = readChapter(await archive.read(chapter), chapter, code, (id, paragraph) => {
      if (!places.has(id)) places.set(id, paragraph);
    });
    const own = entries.filter(({ file }) => file === chapter);
    const starts = own.map(({ id = '', title }) => ({ title, paragraph: places.get(id) ?? 0 }));
    chapters.push(entries.length === 0 ? text : { ...text, chapters: starts });
  }
  return chapters;
}

const ENCRYPTION = 'META-INF/encryption.xml';

function readChapter(html: string, chapter: string, code: CodeMode, onId: OnId): SpokenText {
  try {
    return readHtml(html, code, onId);
  } catch (error) {
    throw inFile(chapter, error);
  }
}

function inFile(file: string, error: unknown): unknown {
  if (!(error instanceof DocumentError)) return error;
  const { hint, line } = error;
  const where = line === undefined ? file : `${file}, line ${line}`;
  return new DocumentError(`${where}: ${error.message}`, hint === undefined ? {} : { hint });
}

function readBookXml(xml: string, file: string, open: OpenHandler): void {
  try {
    readXml(xml, { open });
  } catch (error) {
    throw inFile(file, error);
  }
}

type OpenHandler = (name: string, attributes: Readonly<Record<string, string>>) => void;

function packagePathOf(container: string): string {
  let found: string | undefined;
  readBookXml(container, 'META-INF/container.xml', (name, attributes) => {
    if (localName(name) === 'rootfile') found ??= attributes['full-path'];
  });
  if (found !== undefined) return found;
  throw new DocumentError('not an EPUB: META-INF/container.xml names no package file');
}

interface ContentsEntry {
  readonly file: string;
  // Id of the element at which the chapter begins; undefined for the beginning of the file.
  readonly id: string | undefined;
  readonly title: string;
}

// Returns the first table of contents that names files of the spine.
async function contentsOf(
  archive: Archive,
  { contents, spine }: Package,
): Promise<readonly ContentsEntry[]> {
  for (const file of contents.filter((one) => archive.has(one))) {
    const entries = linksIn(await archive.read(file)).flatMap(({ href, title }) => {
      const [, id] = href.split('#');
      const target = pathOf(href, file);
      return spine.includes(target) && title !== '' ? [{ file: target, id, title }] : [];
    });
    if (entries.length > 0) return entries;
  }
  return [];
}

interface ContentsLink {
  readonly href: string;
  title: string;
}

// A navigation document (EPUB 3), or an NCX (EPUB 2).
function linksIn(contents: string): readonly ContentsLink[] {
  const links: ContentsLink[] = [];
  let label: string | undefined;
  let isOther = false;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const tag = localName(name);
        // Landmarks and page lists are no chapters.
        if (tag === 'nav') isOther = !/^(?:toc)?$/.test(attributes['epub:type'] ?? '');
        if (isOther) return;
        if (tag === 'a' || tag === 'navLabel') label = '';
        if (tag === 'a') links.push({ href: attributes['href'] ?? '', title: '' });
        if (tag === 'content') links.push({ href: attributes['src'] ?? '', title: label ?? '' });
      },
      ontext(text) {
        if (label !== undefined) label += text;
      },
      onclosetag(name) {
        const last = links.at(-1);
        if (name === 'a' && last !== undefined) [last.title, label] = [label ?? '', undefined];
        if (localName(name) === 'content') label = undefined;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(contents);
  return links.map(({ href, title }) => ({ href, title: title.replaceAll(/\s+/g, ' ').trim() }));
}

interface Package {
  // In reading order.
  readonly spine: readonly string[];
  // The navigation document, then the NCX.
  readonly contents: readonly string[];
}

function packageOf(xml: string, packagePath: string): Package {
  const files = new Map<string, string>();
  const spine: string[] = [];
  let nav: string | undefined;
  let ncx: string | undefined;
  readBookXml(xml, packagePath, (name, attributes) => {
    const { href, id, idref } = attributes;
    const type = attributes['media-type'] ?? '';
    if (localName(name) === 'item' && id !== undefined && href !== undefined) {
      const isContents = attributes['properties']?.split(/\s+/).includes('nav') === true;
      const file = pathOf(href, packagePath);
      if (isContents) nav ??= file;
      else if (/html/i.test(type)) files.set(id, file);
      else if (type === 'application/x-dtbncx+xml') ncx ??= file;
    }
    if (localName(name) !== 'itemref' || idref === undefined) return;
    if (attributes['linear'] !== 'no') spine.push(idref);
  });
  return {
    spine: spine.flatMap((id) => files.get(id) ?? []),
    contents: [nav, ncx].flatMap((file) => file ?? []),
  };
}

function encryptedPaths(xml: string): ReadonlySet<string> {
  const paths = new Set<string>();
  readBookXml(xml, ENCRYPTION, (name, { URI }) => {
    if (localName(name) === 'CipherReference' && URI !== undefined) paths.add(pathOf(URI, ''));
  });
  return paths;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function pathOf(reference: string, from: string): string {
  const [file = ''] = reference.split('#');
  let decoded = file;
  try {
    decoded = decodeURIComponent(file);
  } catch {
    // A file name with a percent sign.
  }
  return posix.join(posix.dirname(from), decoded);
}

interface Archive {
  has(file: string): boolean;
  /** Returns the text of a file in the archive. @throws DocumentError */
  read(file: string): Promise<string>;
}

async function openArchive(book: Uint8Array): Promise<Archive> {
  const buffer = Buffer.from(book.buffer, book.byteOffset, book.byteLength);
  const zip = await fromBufferPromise(buffer).catch(() => {
    throw new DocumentError('not an EPUB: it is not a zip archive, or its end is missing');
  });
  const entries = await entriesOf(zip);
  let left = MAX_BOOK_BYTES;
  return {
    has: (file) => entries.has(file),
    async read(file) {
      const entry = entries.get(file);
      if (entry === undefined) throw new DocumentError(`the book has no file ${file}`);
      const bytes = await contentOf(zip, entry, Math.min(left, MAX_FILE_BYTES));
      left -= bytes.length;
      try {
        return decodeUtf8(bytes);
      } catch (error) {
        throw new DocumentError(`${file} is ${reasonOf(error)}`);
      }
    },
  };
}

async function entriesOf(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      entries.set(entry.fileName, entry);
      if (entries.size > MAX_FILES) break;
    }
  } catch (error) {
    throw new DocumentError(`not an EPUB: ${reasonOf(error)}`);
  }
  if (entries.size <= MAX_FILES) return entries;
  throw new DocumentError(`the book has more than ${MAX_FILES} files`);
}

async function contentOf(zip: ZipFile, entry: Entry, limit: number): Promise<Uint8Array> {
  const file = entry.fileName;
  const tooLarge = new DocumentError(
    `${file} is too large: at most ${MAX_FILE_BYTES >> 20} MiB a file and ${MAX_BOOK_BYTES >> 20} MiB a book are read`,
  );
  // The stream fails if there are more bytes than the archive declares.
  if (entry.uncompressedSize > limit) throw tooLarge;
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk);
  } catch (error) {
    throw new DocumentError(`${file} cannot be read: ${reasonOf(error)}`);
  }
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
