import type { Entry, ZipFile } from 'yauzl';
import { fromBufferPromise } from 'yauzl';
import { decodeMarkup } from './decode-markup.ts';
import { DocumentError } from './document-error.ts';

// These limits stop compressed files that expand without end.
const MAX_FILES = 20_000;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_ARCHIVE_BYTES = 32 * 1024 * 1024;

/** Largest size of the one file that contains the text of a document, such as `content.xml`. */
export const MAX_CONTENT_BYTES = MAX_ARCHIVE_BYTES;

/** The files of a zip archive that holds a document. */
export interface Archive {
  readonly names: readonly string[];
  has(file: string): boolean;
  /** Returns the name of a file in the archive that differs from `file` only in case or Unicode form, or `file`. */
  find(file: string): string;
  /**
   * Returns the text of a file in the archive.
   * @param maxBytes largest size of the file; 8 MiB if undefined
   * @throws DocumentError
   */
  read(file: string, maxBytes?: number): Promise<string>;
  /** Returns the bytes of a file in the archive. @throws DocumentError */
  readBytes(file: string): Promise<Uint8Array>;
}

/**
 * Opens a document that is a zip archive. Limits the number and the size of the files that are read.
 * @param kind format of the document with its article, for messages, such as `an EPUB`
 * @param noun name of the document in messages, such as `the book`
 * @throws DocumentError
 */
export async function openArchive(
  document: Uint8Array,
  kind: string,
  noun: string,
): Promise<Archive> {
  const buffer = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  const zip = await fromBufferPromise(buffer).catch(() => {
    throw new DocumentError(`not ${kind}: it is not a zip archive, or its end is missing`);
  });
  const entries = await entriesOf(zip, kind, noun);
  const names = new Map(Array.from(entries.keys(), (name) => [foldedName(name), name]));
  let left = MAX_ARCHIVE_BYTES;
  const readBytes = async (file: string, maxBytes = MAX_FILE_BYTES): Promise<Uint8Array> => {
    const entry = entries.get(file);
    if (entry === undefined) throw new DocumentError(`${noun} has no file ${file}`);
    if (entry.uncompressedSize > Math.min(left, maxBytes)) throw tooLarge(file, maxBytes);
    const bytes = await contentOf(zip, entry);
    left -= bytes.length;
    return bytes;
  };
  return {
    names: [...entries.keys()],
    readBytes: (file) => readBytes(file),
    has: (file) => entries.has(file),
    find: (file) => (entries.has(file) ? file : (names.get(foldedName(file)) ?? file)),
    async read(file, maxBytes) {
      const bytes = await readBytes(file, maxBytes);
      try {
        return decodeMarkup(bytes);
      } catch (error) {
        if (error instanceof DocumentError) throw inFile(file, error);
        throw new DocumentError(`${file} is ${reasonOf(error)}`);
      }
    },
  };
}

/** Adds the name of a file in the archive to an error about its content. */
export function inFile(file: string, error: unknown): unknown {
  if (!(error instanceof DocumentError)) return error;
  const { hint, line } = error;
  const where = line === undefined ? file : `${file}, line ${line}`;
  return new DocumentError(`${where}: ${error.message}`, hint === undefined ? {} : { hint });
}

function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

async function entriesOf(
  zip: ZipFile,
  kind: string,
  noun: string,
): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      entries.set(entry.fileName, entry);
      if (entries.size > MAX_FILES) break;
    }
  } catch (error) {
    throw new DocumentError(`not ${kind}: ${reasonOf(error)}`);
  }
  if (entries.size <= MAX_FILES) return entries;
  throw new DocumentError(`${noun} has more than ${MAX_FILES} files`);
}

function tooLarge(file: string, maxBytes: number): DocumentError {
  return new DocumentError(
    `${file} is too large: at most ${maxBytes >> 20} MiB a file and ${MAX_ARCHIVE_BYTES >> 20} MiB a document are read`,
  );
}

// The stream fails if there are more bytes than the archive declares.
async function contentOf(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk);
  } catch (error) {
    throw new DocumentError(`${entry.fileName} cannot be read: ${reasonOf(error)}`);
  }
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
