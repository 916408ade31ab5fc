import { createParser } from 'eventsource-parser';
import type { AlignedCompleted, AlignedWord } from '../../contract/speech.ts';
import type { UnknownRecord } from '../response.ts';
import { firstNumber, firstText, isRecord } from '../response.ts';

/** What an event of an aligned stream says (docs/api/speech.md#aligned-stream). Audio itself goes into a block. */
export type AlignedEvent =
  | { readonly kind: 'audio' }
  | {
      readonly kind: 'snapshot';
      readonly chunkSeq: number;
      /** Those that can be read. */
      readonly words: readonly AlignedWord[];
      /** All of them could be read. */
      readonly isWhole: boolean;
    }
  /** Without a number: the times of some chunk are lost, and nobody knows which. */
  | { readonly kind: 'invalidated'; readonly chunkSeq: number | undefined }
  | { readonly kind: 'completed'; readonly facts: CompletedFacts }
  | {
      readonly kind: 'error';
      readonly code: string;
      readonly message: string | undefined;
      readonly requestId: string | undefined;
    };

/** The last event of a stream that succeeded; what a service leaves out is undefined. */
export interface CompletedFacts {
  readonly alignmentStatus: AlignedCompleted['alignmentStatus'];
  readonly requestId: string | undefined;
  readonly generationId: string | undefined;
  readonly quotaRemaining: number | undefined;
  readonly creditsUsed: number | undefined;
}

/** Data that is not what the event's name promises. */
export class UnreadableEvent extends Error {
  constructor(name: string, problem: string) {
    super(`the event "${name}" ${problem}`);
    this.name = 'UnreadableEvent';
  }
}

/**
 * An event's name and data to what it says, the second layer. An event of another name is undefined:
 * a service may add some.
 * @param block what audio is added to
 * @throws UnreadableEvent
 */
export function readAlignedEvent(
  name: string,
  data: ByteString,
  block: Pick<AudioBlock, 'add'>,
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

/**
 * Adds the audio where its JSON is as nearly everybody writes it: most of a stream is this, and needs no
 * second copy. A block takes nothing but base64, which has no quotes and nothing escaped: JSON would read
 * the same.
 */
function addPlain(data: ByteString, block: Pick<AudioBlock, 'add'>): boolean {
  return (
    data.startsWith(PLAIN_BEGIN) &&
    data.endsWith(PLAIN_END) &&
    block.add(data.slice(PLAIN_BEGIN.length, -PLAIN_END.length))
  );
}

function addAudio({ audioBase64 }: UnknownRecord, block: Pick<AudioBlock, 'add'>): void {
  if (typeof audioBase64 !== 'string') throw new UnreadableEvent('audio', 'has no audioBase64');
  if (block.add(audioBase64)) return;
  throw new UnreadableEvent('audio', 'has an audioBase64 that is not base64');
}

/** Times that cannot be read are lost; the audio, which is paid for, is not. */
function snapshotOf(fields: UnknownRecord): AlignedEvent {
  const { units = 'milliseconds', words } = fields;
  const chunkSeq = chunkSeqOf(fields);
  if (chunkSeq === undefined || units !== 'milliseconds' || !Array.isArray(words)) {
    return { kind: 'invalidated', chunkSeq };
  }
  const readable = words.filter((word: unknown) => isAlignedWord(word));
  return {
    kind: 'snapshot',
    chunkSeq,
    words: readable.map(({ endMs, startMs, text: said }) => ({ text: said, startMs, endMs })),
    isWhole: readable.length === words.length,
  };
}

function chunkSeqOf({ chunkSeq }: UnknownRecord): number | undefined {
  return typeof chunkSeq === 'number' && Number.isSafeInteger(chunkSeq) ? chunkSeq : undefined;
}

function completedOf(fields: UnknownRecord): CompletedFacts {
  return {
    // Anything but this word means that some of the times are missing.
    alignmentStatus: fields['alignmentStatus'] === 'complete' ? 'complete' : 'partial',
    requestId: firstText(fields['requestId']),
    generationId: firstText(fields['generationId']),
    quotaRemaining: firstNumber(fields['quotaRemaining']),
    creditsUsed: firstNumber(fields['creditsUsed']),
  };
}

/** Whether it is a word with times that can be. */
export function isAlignedWord(value: unknown): value is AlignedWord {
  if (!isRecord(value)) return false;
  const { endMs, startMs, text: said } = value;
  return (
    typeof said === 'string' &&
    firstNumber(startMs) !== undefined &&
    firstNumber(endMs) !== undefined &&
    Number(startMs) >= 0 &&
    Number(endMs) >= Number(startMs)
  );
}

/** What events say that arrived together. */
interface ReadBatch {
  /** Everything up to the end, in one chunk, which is lent by the memory. */
  readonly audio: Uint8Array | undefined;
  /** There is an event that an aligned stream has. */
  readonly hasNews: boolean;
  /** What ended the stream, if anything did; nothing after it counts. */
  readonly end: StreamEnd | undefined;
}

/** How a stream ended. */
export type StreamEnd =
  | Extract<AlignedEvent, { kind: 'completed' | 'error' }>
  | { readonly kind: 'unreadable'; readonly error: UnreadableEvent };

/** Events to audio and timing, the third layer: the times are taken in by `alignment`. */
export function readBatch(
  batch: readonly SseEvent[],
  memory: AudioMemory,
  alignment: Alignment,
): ReadBatch {
  const block = memory.open(audioBytesMax(batch));
  let hasNews = false;
  for (const event of batch) {
    const said = event.kind === 'event' ? read(event, block) : undefined;
    hasNews ||= said !== undefined;
    if ((said?.kind === 'snapshot' || said?.kind === 'invalidated') && !alignment.take(said)) {
      const error = new UnreadableEvent(
        'alignment_snapshot',
        'brings more words than any text has',
      );
      return { audio: memory.lend(block), hasNews, end: { kind: 'unreadable', error } };
    }
    if (said?.kind === 'completed' || said?.kind === 'error' || said?.kind === 'unreadable') {
      return { audio: memory.lend(block), hasNews, end: said };
    }
  }
  return { audio: memory.lend(block), hasNews, end: undefined };
}

/** What is around the base64 is counted too: it is little. */
function audioBytesMax(batch: readonly SseEvent[]): number {
  let characters = 0;
  for (const event of batch) {
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

/**
 * Bytes of UTF-8, each as one character. Nearly all of an aligned stream is base64, which is the same in
 * both, and this costs a fraction of decoding it; what is to be read goes through {@link textOf}.
 */
type ByteString = string;

const LINE_FEED = 0x0a;

/** The text that bytes of UTF-8 are. */
export function textOf(bytes: ByteString): string {
  // Nothing but ASCII: the same in both.
  if (Buffer.byteLength(bytes, 'utf8') === bytes.length) return bytes;
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** One event of a stream of server-sent events, or a sign that somebody is still there. */
export type SseEvent =
  | { readonly kind: 'event'; readonly name: string; readonly data: ByteString }
  | { readonly kind: 'comment' };

/** An event that is larger than any that can be meant. */
export class EventTooLarge extends Error {
  constructor(limitBytes: number) {
    super(`an event is larger than ${limitBytes} bytes`);
    this.name = 'EventTooLarge';
  }
}

/**
 * Bytes to events, the first layer of an aligned stream (docs/api/speech.md#aligned-stream). However the bytes are cut,
 * the events are the same; an event without its empty line at the end of the stream is none. What one chunk
 * completes is given together, and the next is taken only when that was read: nothing, when its lines are of
 * no event.
 * @throws EventTooLarge, or what the body throws
 */
export async function* sseEvents(
  body: AsyncIterable<Uint8Array>,
  { limitBytes }: { readonly limitBytes: number },
): AsyncGenerator<readonly SseEvent[], void, undefined> {
  let ready: SseEvent[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: limitBytes,
    onEvent: ({ event = 'message', data }) => ready.push({ kind: 'event', name: event, data }),
    onComment: () => ready.push({ kind: 'comment' }),
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
  });
  for await (const { buffer, byteLength, byteOffset } of body) {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    // The parser puts what it has of a line together with all that it is given next: that is to be the
    // end of the line alone, so that the rest is read where it is.
    const lineEnd = bytes.indexOf(LINE_FEED) + 1;
    if (lineEnd > 0) parser.feed(bytes.toString('latin1', 0, lineEnd));
    if (lineEnd < byteLength && !isTooLarge) parser.feed(bytes.toString('latin1', lineEnd));
    if (ready.length > 0 || lineEnd > 0) yield ready;
    ready = [];
    if (isTooLarge) throw new EventTooLarge(limitBytes);
  }
}

/**
 * The times of the words of a stream, the third layer beside the audio: of each chunk the newest
 * snapshot counts, and none once it was invalidated, until there is a newer one (docs/api/speech.md#aligned-stream).
 */
export class Alignment {
  readonly #chunks = new Map<number, readonly AlignedWord[]>();
  /** Chunks that lost their times, or some of them, and have no newer ones. */
  readonly #broken = new Set<number>();
  /** Times were lost of which nobody knows the chunk. */
  #hasLost = false;
  /** What all of it weighs in memory. */
  #weight = 0;

  /** Takes an event; false when it is more than any text has, and is not kept. */
  take(event: Extract<AlignedEvent, { kind: 'invalidated' | 'snapshot' }>): boolean {
    const { chunkSeq } = event;
    if (chunkSeq === undefined) {
      this.#hasLost = true;
      return true;
    }
    const before = this.#chunks.get(chunkSeq);
    this.#weight -= before === undefined ? 0 : weightOf(before);
    this.#chunks.delete(chunkSeq);
    this.#broken.add(chunkSeq);
    if (event.kind === 'invalidated') return this.#broken.size <= MOST_BROKEN;
    this.#weight += weightOf(event.words);
    if (this.#weight > MOST_WEIGHT) return false;
    this.#chunks.set(chunkSeq, event.words);
    if (event.isWhole) this.#broken.delete(chunkSeq);
    return this.#broken.size <= MOST_BROKEN;
  }

  /** Whether no chunk lost times, as far as its events show; whether all were sent the service knows. */
  get isWhole(): boolean {
    return !this.#hasLost && this.#broken.size === 0;
  }

  /** The words of all chunks, in the order of the chunks. */
  words(): AlignedWord[] {
    return [...this.#chunks].toSorted(([a], [b]) => a - b).flatMap(([, words]) => words);
  }
}

/** More chunks than any text has. */
const MOST_BROKEN = 100_000;
/** Characters, and what a word with its times takes beside them; an empty snapshot takes something too. */
const MOST_WEIGHT = 16 * 1024 * 1024;
const WORD_WEIGHT = 100;

function weightOf(words: readonly AlignedWord[]): number {
  return words.reduce((sum, { text }) => sum + WORD_WEIGHT + text.length, WORD_WEIGHT);
}

/** So many pieces are kept for what comes next; more are seldom waiting to be written. */
const SPARES_MAX = 64;
/** The audio that arrives together is some kilobytes; memory for more is not kept. */
const SPARE_BYTES_MAX = 128 * 1024;

/**
 * Memory for audio that is used again, since fresh memory costs more than what is written into it: the
 * system has to find and clear it, and it is in no cache. Only what was given back is used again: whoever
 * keeps a chunk, or forgets to give it back, keeps it unchanged.
 */
export class AudioMemory {
  readonly #spares: Buffer[] = [];
  /** The chunks that are out, each with all of the memory that it lies in. */
  readonly #lent = new WeakMap<Uint8Array, Buffer>();

  /** Room for so many bytes of audio. */
  open(bytesMax: number): AudioBlock {
    const spare = this.#spares.pop();
    // One that is too small is left behind, so that soon all of them are large enough.
    const isEnough = spare !== undefined && spare.length >= bytesMax;
    return new AudioBlock(isEnough ? spare : Buffer.allocUnsafeSlow(bytesMax));
  }

  /** The audio in a block, which is not to be added to any more; undefined when there is none. */
  lend(block: AudioBlock): Uint8Array | undefined {
    if (block.length === 0) {
      this.#keep(block.memory);
      return undefined;
    }
    const chunk = block.memory.subarray(0, block.length);
    this.#lent.set(chunk, block.memory);
    return chunk;
  }

  /** Takes back what {@link lend} gave, once; anything else is none of ours and stays what it is. */
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

/** Audio that arrived together, decoded into one piece of memory. */
export class AudioBlock {
  readonly memory: Buffer;
  /** Bytes of audio so far, from the beginning of the memory. */
  length = 0;

  constructor(memory: Buffer) {
    this.memory = memory;
  }

  /**
   * Adds what `base64` says. False, and nothing is added, when it is not base64 or there is no room: Node
   * skips what it does not know, so that there are fewer bytes than the length promises.
   */
  add(base64: string): boolean {
    const padding = base64.endsWith('==') ? 2 : Number(base64.endsWith('='));
    const digits = base64.length - padding;
    // One digit more than four times any number says nothing, so that it could be anything.
    if (digits % 4 === 1) return false;
    const promised = Math.floor((digits * 3) / 4);
    const written = this.memory.write(base64, this.length, promised, 'base64');
    if (written !== promised) return false;
    this.length += written;
    return true;
  }
}
