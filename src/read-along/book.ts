import { DocumentError } from '../text/formats/document-error.ts';
import type { Archive } from '../text/formats/archive.ts';
import { inFile, openArchive } from '../text/formats/archive.ts';
import { decodeMarkup } from '../text/formats/decode-markup.ts';
import { packagePathOf } from '../text/formats/epub.ts';
import { readHtmlOrigins } from '../text/formats/html.ts';
import type { ElementTree } from './element-tree.ts';
import { readElements } from './element-tree.ts';
import { insert, markUnits } from './mark-units.ts';
import type { PackageDocument, SourceText } from './package-document.ts';
import { readPackage } from './package-document.ts';
import type { Overlay } from './overlay.ts';
import type { PlacedText } from './units.ts';
import { spokenUnits } from './units.ts';

/** An EPUB 3 book from which foley can make a read-along book. */
export interface Book {
  readonly bytes: Uint8Array;
  readonly archive: Archive;
  readonly package: PackageDocument;
}

/**
 * Opens a book, and checks that all spoken documents can be marked.
 * @param documents the files of the book that are spoken
 * @throws DocumentError if the book is no EPUB 3, already has media overlays, or a document cannot be marked
 */
export async function openBook(bytes: Uint8Array, documents: readonly string[]): Promise<Book> {
  const open = (): Promise<Archive> => openArchive(bytes, 'an EPUB', 'the book');
  const archive = await open();
  const container = await archive.read(archive.find('META-INF/container.xml'));
  const file = archive.find(packagePathOf(container));
  const source = await readText(archive, file);
  const book = { bytes, archive, package: readPackage(source, file, (name) => archive.find(name)) };
  for (const document of documents) await readDocument(book, document);
  // Each archive limits how much is read from it.
  return { ...book, archive: await open() };
}

/** A document with ids, and the elements to highlight. */
export interface MarkedDocument {
  readonly bytes: Uint8Array;
  readonly hasStyle: boolean;
  /** The elements in reading order, with the times in milliseconds at which they begin. */
  readonly parts: readonly { readonly id: string; readonly ms: number }[];
}

/**
 * Adds ids to a document of the book.
 * @param texts the spoken texts of the document in order
 * @throws DocumentError
 */
export async function markDocument(
  book: Book,
  file: string,
  texts: readonly PlacedText[],
  overlay: Overlay,
): Promise<MarkedDocument> {
  const { byteOrderMark, text: xhtml, tree } = await readDocument(book, file);
  const { origins, text } = readHtmlOrigins(xhtml);
  const { timeAt, units } = spokenUnits(text, texts, overlay);
  const { insertions, parts } = markUnits(tree, origins, units);
  return {
    bytes: Buffer.from(byteOrderMark + insert(xhtml, insertions)),
    hasStyle: tree.hasStyle,
    parts: parts.map(({ id, textStart }) => ({ id, ms: timeAt(textStart) })),
  };
}

async function readDocument(
  { archive, package: { items } }: Book,
  file: string,
): Promise<SourceText & { readonly tree: ElementTree }> {
  if (!items.has(file)) throw new DocumentError(`the manifest of the book does not name ${file}`);
  const source = await readText(archive, file);
  try {
    return { ...source, tree: readElements(source.text) };
  } catch (error) {
    throw inFile(file, error);
  }
}

// Text that is added in UTF-8 must not change the bytes around it.
async function readText(archive: Archive, file: string): Promise<SourceText> {
  const bytes = Buffer.from(await archive.readBytes(file));
  const text = decodeMarkup(bytes);
  const byteOrderMark = bytes.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK : '';
  if (Buffer.from(byteOrderMark + text).equals(bytes)) return { text, byteOrderMark };
  throw new DocumentError(`${file} is not UTF-8`, { hint: 'Save the book with UTF-8 documents.' });
}

const BYTE_ORDER_MARK = '\ufeff';
