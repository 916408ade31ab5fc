import { Readable } from 'node:stream';
import { crc32, deflateRawSync } from 'node:zlib';
import { ZipWriter } from '@zip.js/zip.js/lib/zip-core-writer.js';
import { fromBufferPromise } from 'yauzl';
import type { Output } from '../durable/output.ts';
import { checksumOf } from '../durable/checksum.ts';
import type { FileSystem } from '../system/file-system.ts';

/** A file that is added to a book: its bytes, or the path of a file that contains them. */
export interface AddedFile {
  readonly name: string;
  readonly content: Uint8Array | { readonly path: string };
}

export interface BookToWrite {
  /** The book from which all other files are copied. */
  readonly book: Uint8Array;
  /** New contents of files of the book, by name. */
  readonly replaced: ReadonlyMap<string, Uint8Array>;
  readonly added: readonly AddedFile[];
  readonly output: Output;
  readonly files: FileSystem;
  readonly signal: AbortSignal;
}

/**
 * Writes a copy of a book with other and additional files. Files that stay the same are copied without decompressing
 * them. The media type comes first and is stored, as EPUB requires. Audio is stored. The same files give the same bytes.
 * @throws Failure if the output cannot be written
 * @throws the signal's abort reason on abort
 */
export async function writeBook(options: BookToWrite): Promise<void> {
  const { added, book, files, output, replaced, signal } = options;
  const buffer = Buffer.from(book.buffer, book.byteOffset, book.byteLength);
  const zip = await fromBufferPromise(buffer);
  const writable = new WritableStream<Uint8Array>({ write: (chunk) => output.write(chunk) });
  const writer = new ZipWriter(writable, OPTIONS);
  const write = async (name: string, packed: PackedFile): Promise<void> => {
    const { compressionMethod, crc, length, size, stream } = packed;
    signal.throwIfAborted();
    await writer.add(
      name,
      { readable: Readable.toWeb(stream), size: length },
      { passThrough: true, compressionMethod, uncompressedSize: size, signature: crc, signal },
    );
  };
  await write(MEDIA_TYPE, stored(Buffer.from('application/epub+zip')));
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    const { compressedSize, compressionMethod, crc32: crc, fileName, uncompressedSize } = entry;
    if (fileName === MEDIA_TYPE) continue;
    const content = replaced.get(fileName);
    if (content !== undefined) {
      await write(fileName, deflated(content));
      continue;
    }
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const data = buffer.subarray(fileDataStart, fileDataStart + compressedSize);
    const stream = Readable.from([data]);
    await write(fileName, {
      compressionMethod,
      crc,
      length: compressedSize,
      size: uncompressedSize,
      stream,
    });
  }
  for (const { content, name } of added) {
    if (content instanceof Uint8Array) await write(name, deflated(content));
    else await write(name, await storedFile(content.path, files));
  }
  await writer.close();
}

const MEDIA_TYPE = 'mimetype';

// Without fields that EPUB does not allow for the media type, and without the time of the command.
const OPTIONS = {
  useWebWorkers: false,
  extendedTimestamp: false,
  dataDescriptor: false,
  lastModDate: new Date(1980, 0, 1),
};

const [STORED, DEFLATED] = [0, 8];

interface PackedFile {
  readonly compressionMethod: number;
  readonly crc: number;
  readonly length: number;
  readonly size: number;
  readonly stream: Readable;
}

function stored(data: Uint8Array): PackedFile {
  const { length } = data;
  const crc = crc32(data);
  return { compressionMethod: STORED, crc, length, size: length, stream: Readable.from([data]) };
}

function deflated(data: Uint8Array): PackedFile {
  const packed = deflateRawSync(data);
  return {
    compressionMethod: DEFLATED,
    crc: crc32(data),
    length: packed.length,
    size: data.length,
    stream: Readable.from([packed]),
  };
}

async function storedFile(path: string, files: FileSystem): Promise<PackedFile> {
  const crc = Number.parseInt(await checksumOf(path, 'crc32', files), 16);
  const { size } = await files.stat(path);
  const stream = Readable.from(piecesOf(path, files));
  return { compressionMethod: STORED, crc, length: size, size, stream };
}

async function* piecesOf(path: string, files: FileSystem): AsyncGenerator<Uint8Array> {
  const handle = await files.open(path, 'r');
  try {
    for (let position = 0; ;) {
      const piece = new Uint8Array(PIECE_BYTES);
      const { bytesRead } = await handle.read(piece, 0, PIECE_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

const PIECE_BYTES = 256 * 1024;
