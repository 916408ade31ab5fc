import type { Readable } from 'node:stream';
import { Failure, usageFailure } from '../errors/failure.ts';
import { createUtf8Decoder, decodeUtf8, TextEncodingError } from '../text/decode.ts';
import { display } from '../text/display.ts';
import { DocumentError } from '../text/formats/document-error.ts';
import { refuseForeign } from '../text/formats/foreign-formats.ts';
import type { System } from '../system/system.ts';

// Larger than any book.
const LARGEST_INPUT_BYTES = 64 * 1024 * 1024;

export interface TextSource {
  readonly args: readonly string[];
  /** The value of `--file`; `-` is stdin. */
  readonly file?: string | undefined;
  readonly stdin: () => Readable;
  readonly stdinIsTerminal: () => boolean;
  readonly system: System;
  readonly signal: AbortSignal;
  /** Whether the user chose `--text-format plain`: files of other formats are spoken as they are. */
  readonly isPlain?: boolean;
  /** Called with a sentence about content that is missing from a document, or about a text that looks like one. */
  readonly notice?: (sentence: string) => void;
}

/**
 * Reads the text to speak from the arguments, a file or stdin. Does not read stdin if the arguments contain the text.
 * @throws Failure of kind `usage` if the text is missing, too long or not UTF-8, or if the file has another format, such
 * as PDF
 */
export async function readText(source: TextSource): Promise<string> {
  const { args } = source;
  if (args.length === 0) return decodeText(source, await readBytes(source, LARGEST_INPUT_BYTES));
  const { given } = await findInput(source);
  return requireWords(given ?? '', source);
}

/**
 * Decodes the plain text of a file or of stdin.
 * @throws Failure of kind `usage`
 */
export function decodeText(source: TextSource, bytes: Uint8Array): string {
  const name = nameOf(source);
  try {
    if (source.isPlain !== true) refuseForeign(name, bytes);
    return requireWords(decodeUtf8(bytes), source);
  } catch (error) {
    throw unreadable(name, error);
  }
}

function requireWords(text: string, source: TextSource): string {
  if (text.trim() !== '') return text;
  const fromWhere = origin(source);
  throw usageFailure(
    `the text ${fromWhere} is empty`,
    'Pass the text as an argument, with -f FILE or through a pipe.',
  );
}

/**
 * Reads the bytes of a document from the arguments, a file or stdin.
 * @throws Failure of kind `usage` when there is no document, or it is larger than `limit` bytes
 */
export async function readBytes(
  source: TextSource,
  limit = LARGEST_INPUT_BYTES,
): Promise<Uint8Array> {
  const { bytes, given } = await findInput(source);
  if (bytes === undefined) return Buffer.from(given);
  const name = nameOf(source);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readChunks(bytes, name, source.signal)) {
    size += chunk.length;
    if (size > limit) throw tooLarge(name, limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(name: string, limit: number): Failure {
  return usageFailure(
    `${name} is larger than ${limit / 1024 / 1024} MiB; is it really text?`,
    'Split the text into several files.',
  );
}

async function findInput(
  source: TextSource,
): Promise<
  | { readonly given: string; readonly bytes?: undefined }
  | { readonly bytes: Readable; readonly given?: undefined }
> {
  const { args, file } = source;
  if (args.length > 0 && file !== undefined) {
    throw usageFailure(
      `text is given twice: as an argument and with --file ${file}`,
      'Keep one of them.',
    );
  }
  if (args.length > 0) return { given: args.join(' ') };
  if (file !== undefined && file !== '-') {
    return { bytes: await openFile(source, file) };
  }
  if (file === undefined && source.stdinIsTerminal()) {
    throw usageFailure(
      'no text to speak',
      'Pass the text as an argument, with -f FILE or through a pipe.',
    );
  }
  return { bytes: source.stdin() };
}

function origin({ args, file }: TextSource): string {
  if (args.length > 0) return 'of the arguments';
  return file === undefined || file === '-' ? 'from stdin' : `of ${file}`;
}

/** Returns the name of a file, or `stdin`. */
export function nameOf({ file }: TextSource): string {
  return file === undefined || file === '-' ? 'stdin' : file;
}

async function openFile({ system: { files } }: TextSource, file: string): Promise<Readable> {
  const handle = await files.open(file, 'r').catch((error: unknown) => {
    throw unreadable(file, error);
  });
  // The stream closes the handle, also after an error.
  return handle.createReadStream({ highWaterMark: 1 << 20 });
}

/**
 * Yields the text of a stream as it arrives, in pieces that never end inside a character.
 * @param name name of the stream for messages, such as `stdin`
 * @param signal ends the stream
 * @throws Failure of kind `usage` when the stream cannot be read, or is not UTF-8; on abort, the signal's abort reason
 */
export async function* readPieces(
  bytes: Readable,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const decoder = createUtf8Decoder();
  try {
    for await (const chunk of readChunks(bytes, name, signal)) yield decoder.write(chunk);
    yield decoder.end();
  } catch (error) {
    throw error instanceof TextEncodingError ? unreadable(name, error) : error;
  }
}

async function* readChunks(
  bytes: Readable,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stop = (): void => {
    bytes.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const chunk of bytes) {
      const buffer: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      yield buffer;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(name, error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * Creates the failure for a text or a document that cannot be read.
 * @param name name of the source, such as a file
 */
export function unreadable(name: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof TextEncodingError) {
    const { message: encodingProblem } = error;
    return usageFailure(
      `${name} is ${encodingProblem}`,
      'Save it as UTF-8, or convert it: iconv -f … -t UTF-8.',
    );
  }
  if (error instanceof DocumentError) {
    const { hint, line, message: problem } = error;
    const fileAndLine = line === undefined ? display(name) : `${display(name)}, line ${line}`;
    return usageFailure(`${fileAndLine}: ${problem}`, hint);
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return usageFailure(`no such file: ${name}`);
  if (code === 'EISDIR') return usageFailure(`${name} is a folder, not a text file`);
  if (code === 'EACCES') return usageFailure(`${name} is not readable: permission denied`);
  const message = error instanceof Error ? error.message : String(error);
  return usageFailure(`${name} cannot be read: ${message}`);
}
