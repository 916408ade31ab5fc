import { createParser } from 'eventsource-parser';
import type { EventSourceParser } from 'eventsource-parser';
import type { AlignedCompleted, AlignedWord } from '../../contract/speech.ts';
import type { UnknownRecord } from '../response.ts';
import { firstNumber, firstText, isRecord } from '../response.ts';

/**
 * An event of an aligned stream, which delivers speech with word times (docs/api/speech.md#aligned-stream). Does not
 * include the audio data.
 */
export type AlignedEvent =
  | { readonly kind: 'audio' }
  | {
      readonly kind: 'snapshot';
      readonly chunkSeq: number;
      /** The words of this chunk that have valid times. */
      readonly words: readonly AlignedWord[];
      /** Whether every word of this chunk has valid times. */
      readonly isWhole: boolean;
    }
  /** The word times of a chunk became invalid. `chunkSeq` is undefined if the service does not name the chunk. */
  | { readonly kind: 'invalidated'; readonly chunkSeq: number | undefined }
  | { readonly kind: 'completed'; readonly facts: CompletedFields }
  | {
      readonly kind: 'error';
      readonly code: string;
      readonly message: string | undefined;
      readonly requestId: string | undefined;
    };

/** The `completed` event; fields that the service omits are undefined. */
export interface CompletedFields {
  readonly alignmentStatus: AlignedCompleted['alignmentStatus'];
  readonly requestId: string | undefined;
  readonly generationId: string | undefined;
  readonly quotaRemaining: number | undefined;
  readonly creditsUsed: number | undefined;
}

export class UnreadableEvent extends Error {
  constructor(name: string, problem: string) {
    super(`the event "${name}" ${problem}`);
    this.name = 'UnreadableEvent';
  }
}

/**
 * Parses one event of an aligned stream. Returns undefined for an unknown event type.
 * @param block receives the decoded audio of the event
 * @throws UnreadableEvent for an invalid event
 */
export function readAlignedEvent(
  name: string,
  data: ByteString,
  block: AudioBlock,
): AlignedEvent | undefined {
  switch (name) {
    case 'audio':
      if (!addPlain(data, block)) addAudio(fieldsOf(name, data), block);
      return { kind: 'audio' };
    case 'alignment_snapshot':
      return snapshotOf(fieldsIn(data) ?? {});
    case 'alignment_invalidated':
      return { kind: 'invalidated', chunkSeq: chunkSeqOf(fieldsIn(data) ?? {}) };
    case 'completed':
      return { kind: 'completed', facts: completedOf(fieldsOf(name, data)) };
    case 'error': {
      const fields = fieldsOf(name, data);
      return {
        kind: 'error',
        code: firstText(fields['code']) ?? '',
        message: firstText(fields['message']),
        requestId: firstText(fields['requestId']),
      };
    }
    default:
      return undefined;
  }
}

function fieldsOf(name: string, data: ByteString): UnknownRecord {
  const fields = fieldsIn(data);
  if (fields !== undefined) return fields;
  throw new UnreadableEvent(name, 'has data that is not a JSON object');
}

function fieldsIn(data: ByteString): UnknownRecord | undefined {
  try {
    const value: unknown = JSON.parse(textOf(data));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const PLAIN_BEGIN = '{"audioBase64":"';
const PLAIN_END = '"}';

// Reads an event whose only field is `audioBase64` without parsing JSON, which is slower.
function addPlain(data: ByteString, block: AudioBlock): boolean {
  return (
    data.startsWith(PLAIN_BEGIN) &&
    data.endsWith(PLAIN_END) &&
    block.add(data.slice(PLAIN_BEGIN.length, -PLAIN_END.length))
  );
}

function addAudio({ audioBase64 }: UnknownRecord, block: AudioBlock): void {
  if (typeof audioBase64 !== 'string') throw new UnreadableEvent('audio', 'has no audioBase64');
  if (block.add(audioBase64)) return;
  throw new UnreadableEvent('audio', 'has an audioBase64 that is not base64');
}

// Drops words with invalid times instead of failing, because the audio was billed.
function snapshotOf(fields: UnknownRecord): AlignedEvent {
  const { words } = fields;
  const units = fields['units'] ?? 'milliseconds';
  const chunkSeq = chunkSeqOf(fields);
  if (chunkSeq === undefined || units !== 'milliseconds' || !Array.isArray(words)) {
    return { kind: 'invalidated', chunkSeq };
  }
  const readable = words.filter((word: unknown) => isAlignedWord(word));
  return { kind: 'snapshot', chunkSeq, words: readable, isWhole: readable.length === words.length };
}

function chunkSeqOf({ chunkSeq }: UnknownRecord): number | undefined {
  return typeof chunkSeq === 'number' && Number.isSafeInteger(chunkSeq) ? chunkSeq : undefined;
}

function completedOf(fields: UnknownRecord): CompletedFields {
  return {
    // Any status other than `complete` means that some times are missing.
    alignmentStatus: fields['alignmentStatus'] === 'complete' ? 'complete' : 'partial',
    requestId: firstText(fields['requestId']),
    generationId: firstText(fields['generationId']),
    quotaRemaining: firstNumber(fields['quotaRemaining']),
    creditsUsed: firstNumber(fields['creditsUsed']),
  };
}

export function isAlignedWord(value: unknown): value is AlignedWord {
  if (!isRecord(value)) return false;
  const { endMs, startMs, text: said } = value;
  return (
    typeof said === 'string' &&
    typeof startMs === 'number' &&
    typeof endMs === 'number' &&
    startMs >= 0 &&
    endMs >= startMs &&
    endMs < Infinity
  );
}

interface ReadBatch {
  // One chunk for all events, which the caller returns with `AudioMemory.giveBack`.
  readonly audio: Uint8Array | undefined;
  // Whether at least one of the events has a known type; heartbeats do not count.
  readonly hasNews: boolean;
  readonly end: StreamEnd | undefined;
}

export type StreamEnd =
  | Extract<AlignedEvent, { kind: 'completed' | 'error' }>
  | { readonly kind: 'unreadable'; readonly error: UnreadableEvent };

/** Parses a list of server-sent events. Returns their audio, and adds their word times to `alignment`. */
export function readBatch(
  events: readonly SseEvent[],
  memory: AudioMemory,
  alignment: StreamAlignment,
): ReadBatch {
  const block = memory.open(audioBytesMax(events));
  let hasNews = false;
  for (const event of events) {
    const said = event.kind === 'event' ? read(event, block) : undefined;
    hasNews ||= said !== undefined;
    if ((said?.kind === 'snapshot' || said?.kind === 'invalidated') && !alignment.take(said)) {
      const error = new UnreadableEvent('alignment_snapshot', 'has too many words');
      return { audio: memory.lend(block), hasNews, end: { kind: 'unreadable', error } };
    }
    if (said?.kind === 'completed' || said?.kind === 'error' || said?.kind === 'unreadable') {
      return { audio: memory.lend(block), hasNews, end: said };
    }
  }
  return { audio: memory.lend(block), hasNews, end: undefined };
}

function audioBytesMax(events: readonly SseEvent[]): number {
  let characters = 0;
  for (const event of events) {
    if (event.kind === 'event' && event.name === 'audio') characters += event.data.length;
  }
  return Math.floor((characters * 3) / 4);
}

function read(
  { data, name }: Extract<SseEvent, { kind: 'event' }>,
  block: AudioBlock,
): AlignedEvent | StreamEnd | undefined {
  try {
    return readAlignedEvent(name, data, block);
  } catch (error) {
    if (error instanceof UnreadableEvent) return { kind: 'unreadable', error };
    throw error;
  }
}

// UTF-8 bytes as a string with one character per byte. Most of a stream is Base64 (ASCII), so decoding is rarely
// needed; {@link textOf} decodes the other parts.
type ByteString = string;

const LINE_FEED = 0x0a;

/** Decodes UTF-8 bytes that are given as a string with one character per byte. */
export function textOf(bytes: ByteString): string {
  // Pure ASCII text needs no decoding.
  if (Buffer.byteLength(bytes, 'utf8') === bytes.length) return bytes;
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** A server-sent event (SSE), or a comment, which servers send as a heartbeat. */
export type SseEvent =
  | { readonly kind: 'event'; readonly name: string; readonly data: ByteString }
  | { readonly kind: 'comment' };

/** Parses a byte stream of server-sent events (docs/api/speech.md#aligned-stream). */
export class SseEvents {
  /** Whether an event exceeded the size limit. Then no more bytes can be added. */
  isTooLarge = false;
  readonly #parser: EventSourceParser;
  #ready: SseEvent[] = [];

  /** @param limitBytes the maximum size of an event, in bytes */
  constructor(limitBytes: number) {
    this.#parser = createParser({
      maxBufferSize: limitBytes,
      onEvent: ({ event = 'message', data }) => {
        this.#ready.push({ kind: 'event', name: event, data });
      },
      onComment: () => {
        this.#ready.push({ kind: 'comment' });
      },
      onError: ({ type }) => {
        this.isTooLarge ||= type === 'max-buffer-size-exceeded';
      },
    });
  }

  /** Parses the next bytes. Returns the events that they complete; undefined if the bytes do not end a line. */
  add({ buffer, byteLength, byteOffset }: Uint8Array): readonly SseEvent[] | undefined {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    // The parser copies an incomplete line together with its next input. Feed it only the end of that line first, so
    // that the rest is not copied.
    const lineEnd = bytes.indexOf(LINE_FEED) + 1;
    if (lineEnd > 0) this.#parser.feed(bytes.toString('latin1', 0, lineEnd));
    if (lineEnd < byteLength && !this.isTooLarge)
      this.#parser.feed(bytes.toString('latin1', lineEnd));
    if (lineEnd === 0 && this.#ready.length === 0) return undefined;
    const events = this.#ready;
    this.#ready = [];
    return events;
  }
}

/**
 * Collects the word times of a stream. They arrive as snapshots, each of which contains the word times of one chunk of
 * the stream. A new snapshot of a chunk replaces the previous one. An `invalidated` event that names a chunk removes
 * the snapshot of this chunk (docs/api/speech.md#aligned-stream).
 */
export class StreamAlignment {
  readonly #chunks = new Map<number, CompactWords>();
  readonly #broken = new Set<number>();
  #hasLost = false;
  #weight = 0;

  /**
   * Applies an event to the collected word times. Returns false if the stream has too many words, or too many chunks
   * whose word times are incomplete.
   */
  take(event: Extract<AlignedEvent, { kind: 'invalidated' | 'snapshot' }>): boolean {
    const { chunkSeq } = event;
    if (chunkSeq === undefined) {
      this.#hasLost = true;
      return true;
    }
    this.#weight -= this.#chunks.get(chunkSeq)?.weight ?? 0;
    this.#chunks.delete(chunkSeq);
    this.#broken.add(chunkSeq);
    if (event.kind === 'invalidated') return this.#broken.size <= MOST_BROKEN;
    const words = new CompactWords(event.words);
    this.#weight += words.weight;
    if (this.#weight > MOST_WEIGHT) return false;
    this.#chunks.set(chunkSeq, words);
    if (event.isWhole) this.#broken.delete(chunkSeq);
    return this.#broken.size <= MOST_BROKEN;
  }

  /** True if no word times are missing so far. */
  get isWhole(): boolean {
    return !this.#hasLost && this.#broken.size === 0;
  }

  /** Returns the words of all chunks with their times, in text order. */
  words(): AlignedWord[] {
    const chunks = [...this.#chunks].toSorted(([a], [b]) => a - b);
    return chunks.flatMap(([, chunk]) => chunk.words());
  }
}

const MOST_BROKEN = 100_000;
// Counts the characters of all words, plus a constant for each word and snapshot.
const MOST_WEIGHT = 16 * 1024 * 1024;
const WORD_WEIGHT = 100;

// The words of a chunk in three arrays instead of one object for each word. They stay until the stream ends, and every
// object that stays costs time in garbage collection.
class CompactWords {
  readonly #texts: readonly string[];
  readonly #startsMs: readonly number[];
  readonly #endsMs: readonly number[];
  /** Estimated memory use, which {@link MOST_WEIGHT} limits. */
  readonly weight: number;

  constructor(words: readonly AlignedWord[]) {
    this.#texts = words.map(({ text }) => text);
    this.#startsMs = words.map(({ startMs }) => startMs);
    this.#endsMs = words.map(({ endMs }) => endMs);
    this.weight = words.reduce((sum, { text }) => sum + WORD_WEIGHT + text.length, WORD_WEIGHT);
  }

  words(): AlignedWord[] {
    return this.#texts.map((text, index) => ({
      text,
      startMs: this.#startsMs[index] ?? 0,
      endMs: this.#endsMs[index] ?? 0,
    }));
  }
}

const SPARES_MAX = 64;
const SPARE_BYTES_MAX = 128 * 1024;

/** Lends buffers for audio chunks and reuses returned buffers. Allocating a buffer costs more than filling it. */
export class AudioMemory {
  readonly #spares: Buffer[] = [];
  readonly #lent = new WeakMap<Uint8Array, Buffer>();

  /** Returns an empty block that can hold at least `bytesMax` bytes of audio. */
  open(bytesMax: number): AudioBlock {
    const spare = this.#spares.pop();
    // A retained buffer that is too small is dropped, so that soon all retained buffers are large enough.
    const isEnough = spare !== undefined && spare.length >= bytesMax;
    return new AudioBlock(isEnough ? spare : Buffer.allocUnsafeSlow(bytesMax));
  }

  /** Returns the audio of a finished block; undefined for an empty block. Callers release audio with `giveBack`. */
  lend(block: AudioBlock): Uint8Array | undefined {
    if (block.length === 0) {
      this.#keep(block.memory);
      return undefined;
    }
    const chunk = block.memory.subarray(0, block.length);
    this.#lent.set(chunk, block.memory);
    return chunk;
  }

  /** Takes back a chunk from {@link lend}, so that its buffer can be reused. Ignores any other chunk. */
  giveBack(chunk: Uint8Array): void {
    const memory = this.#lent.get(chunk);
    if (memory === undefined) return;
    this.#lent.delete(chunk);
    this.#keep(memory);
  }

  #keep(memory: Buffer): void {
    const isUsual = memory.length > 0 && memory.length <= SPARE_BYTES_MAX;
    if (isUsual && this.#spares.length < SPARES_MAX) this.#spares.push(memory);
  }
}

/** Collects the decoded audio of events that arrived together. */
export class AudioBlock {
  readonly memory: Buffer;
  /** Number of audio bytes in this block. */
  length = 0;

  constructor(memory: Buffer) {
    this.memory = memory;
  }

  /** Decodes Base64 and adds the bytes. Returns false and adds nothing if the Base64 is invalid or too long. */
  add(base64: string): boolean {
    const padding = base64.endsWith('==') ? 2 : Number(base64.endsWith('='));
    const digits = base64.length - padding;
    // Valid Base64 never leaves a single digit after the groups of four.
    if (digits % 4 === 1) return false;
    const promised = Math.floor((digits * 3) / 4);
    const written = this.memory.write(base64, this.length, promised, 'base64');
    // Node skips invalid characters.
    if (written !== promised) return false;
    this.length += written;
    return true;
  }
}
