import path from 'node:path';
import type { UploadFile } from '../api/multipart.ts';
import { isMpegStream } from '../audio/program-stream.ts';
import { SNIFF_BYTES_MAX, sniff } from '../audio/sniff.ts';
import type { SniffedFormat } from '../audio/sniff.ts';
import { REFERENCE_FILE_MAX_BYTES, REFERENCE_FILES_MAX } from '../contract/limits.ts';
import { REFERENCE_EXTENSIONS } from '../contract/reference-audio.ts';
import type { RegularFile } from '../durable/regular-file.ts';
import { findRegularFile } from '../durable/regular-file.ts';
import type { FileSystem } from '../system/file-system.ts';
import { usageFailure } from '../errors/failure.ts';

/**
 * Checks recordings for a new voice before they are sent: their number, file extensions, sizes and content.
 * @throws Failure of kind `usage` that names the first invalid recording
 */
export async function checkRecordings(
  given: readonly string[],
  files: FileSystem,
  signal?: AbortSignal,
): Promise<readonly UploadFile[]> {
  if (given.length > REFERENCE_FILES_MAX) {
    throw usageFailure(
      `too many recordings (${given.length}): use at most ${REFERENCE_FILES_MAX}`,
      'Choose the clearest ones.',
    );
  }
  const recordings: UploadFile[] = [];
  for (const file of given) recordings.push(await checkRecording(file, files, signal));
  return recordings;
}

async function checkRecording(
  given: string,
  files: FileSystem,
  signal: AbortSignal | undefined,
): Promise<UploadFile> {
  const shown = `the recording "${given}"`;
  const file = await findRegularFile(given, shown, files);
  const extension = referenceExtension(given);
  if (extension === undefined) {
    const ending = path.extname(given);
    const found = ending === '' ? 'no extension' : `the extension ${ending}`;
    throw usageFailure(
      `${shown} has ${found}; allowed: ${REFERENCE_EXTENSIONS.join(', ')}`,
      'Convert it first, for example to .wav.',
    );
  }
  if (file === undefined) {
    throw usageFailure(
      `${shown} is not a regular file`,
      'foley may read it more than once: save it to a file first.',
    );
  }
  checkSize(file, shown);
  const head = await readThrough(file, signal);
  checkContent(head, extension, shown);
  const { mediaType: contentType } = REFERENCE_TYPES[extension];
  return { ...file, filename: path.basename(given), contentType };
}

function checkSize({ byteLength }: RegularFile, shown: string): void {
  if (byteLength === 0) throw usageFailure(`${shown} is empty`);
  if (byteLength <= REFERENCE_FILE_MAX_BYTES) return;
  throw usageFailure(
    `${shown} is too large (${byteLength} bytes): use at most ${REFERENCE_FILE_MAX_BYTES} (10 MB)`,
    'Shorten it, or convert it to mp3 or flac.',
  );
}

// Reads the complete file, to check that it is readable.
async function readThrough(
  file: RegularFile,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  let head = new Uint8Array();
  for await (const chunk of file.open()) {
    signal?.throwIfAborted();
    if (head.length < SNIFF_BYTES_MAX) head = new Uint8Array(Buffer.concat([head, chunk]));
  }
  return head;
}

function checkContent(head: Uint8Array, extension: ReferenceExtension, shown: string): void {
  const content = contentOf(head);
  const { contents } = REFERENCE_TYPES[extension];
  if (contents.some((allowed) => allowed === content)) return;
  const isKnown = content !== undefined && content !== 'more';
  throw usageFailure(
    isKnown
      ? `${shown} has the extension .${extension}, but its content is ${content}`
      : `${shown} has the extension .${extension}, but its content is not audio in that format`,
    isKnown && isRecording(content)
      ? 'Rename it to match its content.'
      : 'Check that it is the right file.',
  );
}

function isRecording(content: string): boolean {
  return Object.values(REFERENCE_TYPES).some(({ contents }) =>
    contents.some((allowed) => allowed === content),
  );
}

export type ReferenceExtension = (typeof REFERENCE_EXTENSIONS)[number];

/** The audio format of a recording, detected from its first bytes. */
export type RecordingContent = SniffedFormat | 'mpeg';

/** For each file extension of a recording, the allowed audio formats and the media type (docs/api/voices.md). */
export const REFERENCE_TYPES: Readonly<
  Record<
    ReferenceExtension,
    { readonly contents: readonly RecordingContent[]; readonly mediaType: string }
  >
> = {
  aac: { contents: ['aac'], mediaType: 'audio/aac' },
  flac: { contents: ['flac'], mediaType: 'audio/flac' },
  m4a: { contents: ['m4a', 'mp4'], mediaType: 'audio/mp4' },
  mp3: { contents: ['mp3'], mediaType: 'audio/mpeg' },
  mp4: { contents: ['mp4', 'm4a'], mediaType: 'video/mp4' },
  mpeg: { contents: ['mp3', 'mpeg'], mediaType: 'audio/mpeg' },
  oga: { contents: ['ogg'], mediaType: 'audio/ogg' },
  ogg: { contents: ['ogg'], mediaType: 'audio/ogg' },
  opus: { contents: ['ogg'], mediaType: 'audio/ogg' },
  wav: { contents: ['wav'], mediaType: 'audio/wav' },
  webm: { contents: ['webm'], mediaType: 'audio/webm' },
};

/** Returns the file extension in lower case; undefined if recordings must not have this extension. */
export function referenceExtension(fileName: string): ReferenceExtension | undefined {
  const ending = /[^/\\]\.([^./\\]+)$/.exec(fileName)?.[1]?.toLowerCase();
  return REFERENCE_EXTENSIONS.find((extension) => extension === ending);
}

/**
 * Detects the audio format of a recording from its first bytes. Returns `more` if more bytes are needed, and
 * undefined if the format is unknown.
 */
export function contentOf(head: Uint8Array): RecordingContent | 'more' | undefined {
  if (isMpegStream(head)) return 'mpeg';
  const found = sniff(head);
  if (found.kind === 'known') return found.format;
  return found.kind === 'more' ? 'more' : undefined;
}
