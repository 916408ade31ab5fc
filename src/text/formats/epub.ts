import { posix } from 'node:path';
import type { Entry, ZipFile } from 'yauzl';
import { fromBufferPromise } from 'yauzl';
import { decodeUtf8 } from '../decode.ts';
import type { SpokenText } from '../document.ts';
import { DocumentError } from './document-error.ts';
import { readHtml } from './html.ts';
import type { CodeMode } from './text-formats.ts';
import { readXml } from './xml.ts';

/** Limits of what is read of a book, against compressed files that expand without end. */
const MAX_FILES = 20_000;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_BOOK_BYTES = 32 * 1024 * 1024;

/** Extracts the text of the chapters of an EPUB, in the order of its spine. @throws DocumentError */
export async function readEpub(book: Uint8Array, code: CodeMode): Promise<readonly SpokenText[]> {
  const archive = await openArchive(book);
  const packagePath = packagePathOf(await archive.read('META-INF/container.xml'));
  const spine = spineOf(await archive.read(packagePath), packagePath);
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
    chapters.push(readChapter(await archive.read(chapter), chapter, code));
  }
  return chapters;
}

const ENCRYPTION = 'META-INF/encryption.xml';

function readChapter(html: string, chapter: string, code: CodeMode): SpokenText {
  try {
    return readHtml(html, code);
  } catch (error) {
    throw inFile(chapter, error);
  }
}

/** Adds the name of a file in the book to an error. */
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

/** Returns the path of the package file, which container.xml names. */
function packagePathOf(container: string): string {
  let found: string | undefined;
  readBookXml(container, 'META-INF/container.xml', (name, attributes) => {
    if (localName(name) === 'rootfile') found ??= attributes['full-path'];
  });
  if (found !== undefined) return found;
  throw new DocumentError('not an EPUB: META-INF/container.xml names no package file');
}

/** Returns the paths of the chapters in reading order, without the table of contents. */
function spineOf(xml: string, packagePath: string): readonly string[] {
  const files = new Map<string, string>();
  const spine: string[] = [];
  readBookXml(xml, packagePath, (name, attributes) => {
    const { href, id, idref } = attributes;
    const type = attributes['media-type'] ?? '';
    if (localName(name) === 'item' && id !== undefined && href !== undefined) {
      const isContents = attributes['properties']?.split(/\s+/).includes('nav') === true;
      if (!isContents && /html/i.test(type)) files.set(id, pathOf(href, packagePath));
    }
    if (localName(name) !== 'itemref' || idref === undefined) return;
    if (attributes['linear'] !== 'no') spine.push(idref);
  });
  return spine.flatMap((id) => files.get(id) ?? []);
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

/** Returns the path in the archive of a reference in a file of the book. */
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
  /** Returns the text of a file. @throws DocumentError */
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
