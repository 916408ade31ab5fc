import { isAlignedWord } from '../../api/resources/aligned-events.ts';
import type { AlignedOutcome, AudioResponse } from '../../api/resources/speech.ts';
import { createChecksum } from '../../durable/checksum.ts';
import { hasShape } from '../../durable/log.ts';
import { parseRanges } from '../../contract/unspoken.ts';
import type { FileHandle } from '../../system/file-system.ts';

/** What the store records about bought audio. Contains no API key, and of the text only the words that have times. */
export interface StoredMetadata {
  readonly version: 1;
  /** When the audio was bought, in ISO 8601. */
  readonly at: string;
  /** The URL of the service, or `embedded`. */
  readonly service: string;
  readonly format: string;
  /** Size of the audio in bytes. */
  readonly bytes: number;
  readonly durationMs: number | null;
  /** What the audio cost; null if the service did not report it. */
  readonly creditsUsed: number | null;
  /** Id of the request that bought the audio. */
  readonly requestId: string;
  readonly ignoredParameters: readonly string[];
  /** What the voice left out of the text, in the format of `X-Foley-Unspoken`; empty for nothing. */
  readonly unspoken: string;
  /** The layout of raw samples. */
  readonly pcm: AudioResponse['pcm'] | null;
  /** The word times of an aligned stream. */
  readonly outcome: AlignedOutcome | null;
}

// A stored file has the audio, the metadata as JSON, the length of the JSON, and the SHA-256 of all of this.
const LENGTH_BYTES = 4;
const DIGEST_BYTES = 32;
const TAIL_BYTES = LENGTH_BYTES + DIGEST_BYTES;
const METADATA_MAX_BYTES = 64 * 1024 * 1024;

/** Returns the bytes that follow the audio in a stored file, without the digest at the end. */
export function encodeMetadata(metadata: StoredMetadata): Buffer {
  const json = Buffer.from(JSON.stringify(metadata));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length]);
}

/** Reads the metadata of a stored file without checking its digest; undefined if the file is damaged. */
export async function readMetadata(file: FileHandle): Promise<StoredMetadata | undefined> {
  const { size } = await file.stat();
  if (size < TAIL_BYTES) return undefined;
  const length = (await readAt(file, size - TAIL_BYTES, LENGTH_BYTES)).readUInt32BE();
  const start = size - TAIL_BYTES - length;
  if (length > METADATA_MAX_BYTES || start < 0) return undefined;
  const metadata = parseMetadata((await readAt(file, start, length)).toString());
  return metadata?.bytes === start ? metadata : undefined;
}

/** Returns whether the digest at the end of a stored file matches its content. */
export async function isIntact(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size < TAIL_BYTES) return false;
  const checksum = createChecksum('sha256');
  for await (const chunk of chunksOf(file, size - DIGEST_BYTES)) checksum.update(chunk);
  const recorded = await readAt(file, size - DIGEST_BYTES, DIGEST_BYTES);
  return recorded.toString('hex') === checksum.value();
}

/** Yields the first bytes of a file. Ends early if the file is shorter. */
export async function* chunksOf(
  file: FileHandle,
  bytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let position = 0; position < bytes;) {
    const chunk = await readAt(file, position, Math.min(CHUNK_BYTES, bytes - position));
    if (chunk.length === 0) return;
    yield chunk;
    position += chunk.length;
  }
}

const CHUNK_BYTES = 64 * 1024;

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function parseMetadata(json: string): StoredMetadata | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isMetadata(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isMetadata(value: unknown): value is StoredMetadata {
  const isRecord = hasShape(value, {
    version: 'number',
    at: 'string',
    service: 'string',
    format: 'string',
    bytes: 'number',
    durationMs: 'number|null',
    creditsUsed: 'number|null',
    requestId: 'string',
    ignoredParameters: 'object',
    unspoken: 'string',
    pcm: 'object|null',
    outcome: 'object|null',
  });
  if (!isRecord) return false;
  const { ignoredParameters: names, outcome, unspoken, version } = value;
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string');
  const areRanges = unspoken === '' || parseRanges(String(unspoken)) !== undefined;
  return version === 1 && isList && areRanges && isPcm(value['pcm']) && isOutcome(outcome);
}

function isPcm(value: unknown): boolean {
  return (
    value === null ||
    hasShape(value, { sampleRate: 'number', channels: 'number', bitDepth: 'number' })
  );
}

function isOutcome(value: unknown): boolean {
  if (value === null) return true;
  if (!hasShape(value, { isComplete: 'boolean', words: 'object' })) return false;
  const { words } = value;
  return Array.isArray(words) && words.every((word: unknown) => isAlignedWord(word));
}
