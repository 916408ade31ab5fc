import type { Readable } from 'node:stream';
import type { FileSystem } from '../effects/file-system.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import { createUtf8Decoder, TextEncodingError } from '../text/decode.ts';
import type { SpokenText } from '../text/document.ts';

/** The maximum size of a text input, larger than any book. */
const LARGEST_INPUT_BYTES = 64 * 1024 * 1024;

export interface TextSource {
  readonly args: readonly string[];
  /** The value of `--file`; `-` is stdin. */
  readonly file?: string | undefined;
  readonly stdin: () => Readable;
  readonly stdinIsTerminal: () => boolean;
  readonly files: FileSystem;
  readonly signal: AbortSignal;
}

/** A text to speak. */
export interface SpeechText {
  /** What is sent. */
  readonly text: string;
  /** The words of the document, and pauses; undefined for plain text, which is sent as it is. */
  readonly spoken: SpokenText | undefined;
}

/**
 * Reads the text to speak, as {@link readText} does.
 * @throws Failure (usage)
 */
export async function readSpeech(source: TextSource): Promise<SpeechText> {
  return { text: await readText(source), spoken: undefined };
}

/**
 * Reads the text to speak from the arguments, a file or stdin. Does not touch stdin when text is given.
 * @throws Failure (usage) when the text is missing, too long or not UTF-8
 */
export async function readText(source: TextSource): Promise<string> {
  const text = await findText(source);
  if (text.trim() === '') {
    throw usageFailure(
      `the text ${origin(source)} is empty`,
      'Pass some text: foley tts "Hello", -f FILE, or a pipe.',
    );
  }
  return text;
}

async function findText(source: TextSource): Promise<string> {
  const { args, file } = source;
  if (args.length > 0 && file !== undefined) {
    throw usageFailure(
      `text is given twice: as an argument and with --file ${file}`,
      'Keep one of them.',
    );
  }
  if (args.length > 0) return args.join(' ');
  if (file !== undefined && file !== '-') return readFile(source, file);
  if (file === undefined && source.stdinIsTerminal()) {
    throw usageFailure(
      'no text to speak',
      'Pass it as an argument (foley tts "Hello"), with -f FILE, or through a pipe.',
    );
  }
  return decode(source.stdin(), 'stdin', source.signal);
}

function origin({ args, file }: TextSource): string {
  if (args.length > 0) return 'of the arguments';
  return file === undefined || file === '-' ? 'from stdin' : `of ${file}`;
}

async function readFile({ files, signal }: TextSource, file: string): Promise<string> {
  const handle = await files.open(file, 'r').catch((error: unknown) => {
    throw unreadable(file, error);
  });
  // The stream closes the handle, also after an error.
  return decode(handle.createReadStream({ highWaterMark: 1 << 20 }), file, signal);
}

async function decode(bytes: Readable, name: string, signal: AbortSignal): Promise<string> {
  const parts: string[] = [];
  let size = 0;
  for await (const part of readPieces(bytes, name, signal)) {
    size += Buffer.byteLength(part);
    if (size > LARGEST_INPUT_BYTES) {
      throw usageFailure(
        `${name} is larger than ${LARGEST_INPUT_BYTES / 1024 / 1024} MiB; is it really text?`,
        'Split the text into several files.',
      );
    }
    parts.push(part);
  }
  return parts.join('');
}

/**
 * Yields the text of a stream as it arrives, in pieces that never end inside a character.
 * @param name for messages, such as `stdin`
 * @param signal ends the stream
 * @throws Failure (usage) when the stream cannot be read, or is not UTF-8; the signal's reason
 */
export async function* readPieces(
  bytes: Readable,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const decoder = createUtf8Decoder();
  const stop = (): void => {
    bytes.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const chunk of bytes) {
      const buffer: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      yield decoder.write(buffer);
    }
    yield decoder.end();
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(name, error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function unreadable(name: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof TextEncodingError) {
    return usageFailure(
      `${name} is ${error.message}`,
      'Save it as UTF-8, or convert it: iconv -f … -t UTF-8.',
    );
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return usageFailure(`no such file: ${name}`);
  if (code === 'EISDIR') return usageFailure(`${name} is a folder, not a text file`);
  if (code === 'EACCES') return usageFailure(`${name} is not readable: permission denied`);
  const message = error instanceof Error ? error.message : String(error);
  return usageFailure(`${name} cannot be read: ${message}`);
}
