import type {
  AlignedCompleted,
  AlignedError,
  AlignmentStatus,
  AlignedWord,
  AlignmentInvalidated,
  AlignmentSnapshot,
} from '../../contract/speech.ts';
import type { Clock } from '../../effects/clock.ts';
import { closeQuietly } from '../../effects/concurrency.ts';
import { codecDelayMs } from '../engine/encode/encode-speech.ts';
import type { SpeechChunk, WordMark } from '../engine/speech-engine.ts';
import { EngineError, LONGEST_STRETCH } from '../engine/speech-engine.ts';
import type { Operation } from '../operations/operations.ts';
import type {
  SpeechContext,
  RunningGeneration,
  SpokenStream,
  Speaking,
  Settlement,
} from './speak.ts';
import { generate, requireSettled, createSettlement, speechError, speechOf } from './speak.ts';
import type { ServiceError } from '../service-error.ts';
import { closingError } from '../service-error.ts';
import { countCodePoints, withoutSilentSigns } from '../../text/code-points.ts';
import { splitClauses } from '../../text/sentences.ts';

/** A request for an aligned stream that was planned and paid for. */
interface SpeakingAligned extends Speaking {
  readonly context: Speaking['context'] & Pick<SpeechContext, 'clock'>;
}

/**
 * Speaks with times, as far as the first of the audio; the charge stands from there on (docs/api/speech.md#aligned-stream and docs/api/errors.md#idempotency). The body settles the rest.
 * @throws ServiceError as `speakStream` does
 */
export function speakAligned(speaking: SpeakingAligned): Promise<SpokenStream> {
  const { context, operation, plan, requestId } = speaking;
  const { clock } = context;
  return generate(speaking, async (generation) => {
    const events = await startEvents(alignedEvents(speaking, generation.signal));
    const { quota } = requireSettled(operation.commit());
    const bill = { quotaRemaining: quota, creditsUsed: plan.charge.credits };
    const onFailure = (error: unknown): void =>
      context.report({ type: 'failure', requestId, error });
    const body = alignedBody({ events, generation, operation, clock, requestId, bill, onFailure });
    return { body, quotaRemaining: quota };
  });
}

/** Reads events until there is audio. */
async function startEvents(rest: StartedEvents['rest']): Promise<StartedEvents> {
  const head: SpokenEvent[] = [];
  for (;;) {
    const next = await rest.next();
    if (next.done === true) {
      throw new EngineError('unspeakable', 'The text has nothing that this voice can say');
    }
    head.push(next.value);
    if (next.value.name === 'audio') return { head, rest };
  }
}

/** Events of which the first audio exists. */
interface StartedEvents {
  readonly head: readonly SpokenEvent[];
  readonly rest: AsyncIterator<SpokenEvent, AlignmentStatus>;
}

interface AlignedBodyOptions {
  readonly events: StartedEvents;
  readonly generation: RunningGeneration;
  readonly operation: Operation;
  readonly clock: Clock;
  readonly requestId: string;
  /** What `completed` tells besides. */
  readonly bill: Pick<AlignedCompleted, 'quotaRemaining' | 'creditsUsed'>;
  readonly onFailure: (error: unknown) => void;
}

/** A stream without a byte for longer than this tells that it lives. */
const HEARTBEAT_MS = 10_000;

/**
 * The body of an aligned stream, made as fast as it is read (docs/api/speech.md#aligned-stream). `completed` is told
 * when the charge stands for good; what fails after the beginning is refunded, and told with `error`.
 */
function alignedBody(options: AlignedBodyOptions): ReadableStream<Uint8Array> {
  return new ReadableStream(new AlignedSource(options), { highWaterMark: 0 });
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

class AlignedSource {
  readonly #options: AlignedBodyOptions;
  readonly #settlement: Settlement;
  readonly #source: BeatingEvents;
  #isOver = false;

  constructor(options: AlignedBodyOptions) {
    this.#options = options;
    this.#settlement = createSettlement({ ...options, source: options.events.rest });
    this.#source = new BeatingEvents(options.events, options.clock);
  }

  start(controller: Controller): void {
    const { signal } = this.#options.generation;
    const abort = (): void => this.#breakOff(controller, signal.reason, closingError());
    signal.addEventListener('abort', abort, { once: true });
  }

  async pull(controller: Controller): Promise<void> {
    try {
      const next = await this.#source.next();
      if (this.#isOver) return;
      if (next === 'heartbeat') controller.enqueue(HEARTBEAT);
      else if (next.done === true) this.#end(controller, next.value);
      else controller.enqueue(bytesOf(next.value));
    } catch (error) {
      this.#breakOff(controller, error, speechError(error));
    }
  }

  cancel(reason: unknown): void {
    this.#isOver = true;
    this.#settlement.leave(reason);
  }

  #end(controller: Controller, alignmentStatus: AlignmentStatus): void {
    const { bill, operation, requestId } = this.#options;
    if (!this.#settlement.complete()) throw new Error('the answer could not be settled');
    this.#isOver = true;
    const generationId = operation.id;
    const data: AlignedCompleted = { requestId, generationId, alignmentStatus, ...bill };
    controller.enqueue(serverSentEvent('completed', data));
    controller.close();
  }

  #breakOff(controller: Controller, error: unknown, { code, message }: ServiceError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settlement.fail(error);
    const data: AlignedError = { requestId: this.#options.requestId, code, message };
    controller.enqueue(serverSentEvent('error', data));
    controller.close();
  }
}

function bytesOf(event: SpokenEvent): Uint8Array {
  if (event.name !== 'audio') return serverSentEvent(event.name, event.data);
  return serverSentEvent('audio', { audioBase64: Buffer.from(event.bytes).toString('base64') });
}

type Next = IteratorResult<SpokenEvent, AlignmentStatus>;

/** Events, and a heartbeat whenever the next one lets wait for itself. */
class BeatingEvents {
  readonly #head: SpokenEvent[];
  readonly #rest: StartedEvents['rest'];
  readonly #clock: Clock;
  #pending: Promise<Next> | undefined;

  constructor({ head, rest }: StartedEvents, clock: Clock) {
    this.#head = [...head];
    this.#rest = rest;
    this.#clock = clock;
  }

  async next(): Promise<Next | 'heartbeat'> {
    const first = this.#head.shift();
    if (first !== undefined) return { value: first, done: false };
    this.#pending ??= this.#rest.next();
    const pending = this.#pending;
    const beat = new Heartbeat(this.#clock);
    try {
      const next = await Promise.race([pending, beat.due]);
      if (next !== 'heartbeat') this.#pending = undefined;
      return next;
    } finally {
      beat.stop();
    }
  }
}

class Heartbeat {
  readonly due: Promise<'heartbeat'>;
  /** Lets it never be due. */
  stop: () => void = () => {};

  constructor(clock: Clock) {
    this.due = new Promise((resolve) => {
      this.stop = clock.after(HEARTBEAT_MS, () => resolve('heartbeat'));
    });
  }
}

/** What happens while a text is spoken with its times; how it ends is not among it. */
type SpokenEvent = { readonly name: 'audio'; readonly bytes: Uint8Array } | AlignmentUpdate;

/**
 * Speaks a text: audio in pieces, and what is known of its words as soon as it is, before the audio of
 * a chunk where that can be. Is made as it is asked for, but for the next piece of audio.
 * @returns whether every chunk has its times
 * @throws EngineError when nothing can be spoken; whatever the engine or the encoder throws
 */
async function* alignedEvents(
  speaking: Pick<Speaking, 'account' | 'context' | 'plan'>,
  signal: AbortSignal,
): AsyncGenerator<SpokenEvent, AlignmentStatus> {
  const { context, plan } = speaking;
  const { engineRequest, format, gainDb } = plan;
  const timed = {
    ...speaking,
    plan: { ...plan, engineRequest: { ...engineRequest, isTimed: true } },
  };
  const alignment = new Alignment(engineRequest.text, codecDelayMs(format));
  const news = new News();
  const chunks = observe(speechOf(timed, signal), (chunk) => {
    alignment.hear(chunk);
    news.tell();
  });
  const encoded = context.encode(format, chunks, { gainDb })[Symbol.asyncIterator]();
  try {
    let next = startNext(encoded);
    for (;;) {
      const audio = await Promise.race([next, news.next]);
      for (const update of alignment.take()) yield update;
      if (audio === undefined) continue;
      if (audio.done === true) break;
      yield { name: 'audio', bytes: audio.value };
      next = startNext(encoded);
    }
    const status = alignment.finish();
    yield* alignment.take();
    return status;
  } finally {
    void closeQuietly(encoded);
  }
}

/** May fail while nobody waits for it. */
function startNext(encoded: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  const next = encoded.next();
  next.catch(() => {});
  return next;
}

/** Wakes who waits for it. */
class News {
  #isTold = false;
  #wake: () => void = () => {};

  /** Resolves when something is told, or was since this was asked last. */
  get next(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#isTold = false;
        resolve(undefined);
      };
      if (this.#isTold) this.#wake();
    });
  }

  tell(): void {
    this.#isTold = true;
    this.#wake();
  }
}

async function* observe(
  chunks: AsyncIterable<SpeechChunk>,
  onChunk: (chunk: SpeechChunk) => void,
): AsyncGenerator<SpeechChunk> {
  for await (const chunk of chunks) {
    onChunk(chunk);
    yield chunk;
  }
}

/** One event of a stream as its bytes. Its name has no line break, and its data is a line of JSON. */
function serverSentEvent(name: string, data: unknown): Uint8Array {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A comment, which clients leave alone; proxies see that the connection lives. */
const HEARTBEAT: Uint8Array = Buffer.from(': heartbeat\n\n');

/** What a client is told of the times of words. */
export type AlignmentUpdate =
  | { readonly name: 'alignment_snapshot'; readonly data: AlignmentSnapshot }
  | { readonly name: 'alignment_invalidated'; readonly data: AlignmentInvalidated };

/** What nobody misses times of when it is not said. */
const HAS_WORD = /[\p{L}\p{N}]/u;

interface Piece {
  readonly text: string;
  /** Code points of the whole text. */
  readonly start: number;
  readonly end: number;
  /** Known when the first is told of it. */
  chunkSeq: number | undefined;
  /** What the engine told. */
  words: readonly WordMark[];
}

/**
 * Follows the speech of a text and says what its client is to be told (docs/api/speech.md#aligned-stream): a chunk is
 * a sentence, or a clause of a long one; it gets a snapshot with an estimate as soon as its sound is
 * there, where the engine says what the sound is of, and one with the engine's own words when those
 * are told, again with each that comes later. What is behind without words is invalidated.
 */
export class Alignment {
  readonly #characters: readonly string[];
  readonly #pieces: readonly Piece[];
  readonly #delayMs: number;
  #updates: AlignmentUpdate[] = [];
  #current = 0;
  #chunks = 0;
  #spokenMs = 0;
  #isPartial = false;

  /** @param delayMs when the speech begins in the full audio */
  constructor(text: string, delayMs: number) {
    this.#characters = Array.from(text);
    this.#pieces = piecesOf(text);
    this.#delayMs = delayMs;
  }

  /** What there is to tell since it was asked last. */
  take(): readonly AlignmentUpdate[] {
    const updates = this.#updates;
    this.#updates = [];
    return updates;
  }

  /** A chunk, before any of its sound is told. */
  hear(chunk: SpeechChunk): void {
    const { samples, sampleRate, span, words = [] } = chunk;
    if (span !== undefined && samples.length > 0) this.#estimate(span.start, chunk);
    this.#spokenMs += (samples.length * 1000) / sampleRate;
    const touched = new Set<Piece>();
    for (const word of words) {
      const piece = this.#advance(word.start);
      if (piece === undefined) continue;
      piece.words = [...piece.words, word];
      touched.add(piece);
    }
    for (const piece of touched) this.#tell(piece, piece.words);
  }

  /** The end of the speech. */
  finish(): AlignmentStatus {
    this.#advance(Infinity);
    return this.#isPartial ? 'partial' : 'complete';
  }

  #estimate(at: number, chunk: SpeechChunk): void {
    const piece = this.#advance(at);
    if (piece === undefined || piece.words.length > 0) return;
    const words = estimateWords(piece.text, chunk, {
      first: piece.start,
      offsetMs: this.#spokenMs,
    });
    if (words.length > 0) this.#tell(piece, words);
  }

  /** Goes on to the piece of a code point; those before it are over. */
  #advance(at: number): Piece | undefined {
    for (;;) {
      const piece = this.#pieces[this.#current];
      if (piece === undefined || at < piece.end) return piece;
      this.#end(piece);
      this.#current += 1;
    }
  }

  #end(piece: Piece): void {
    const isMissed = piece.chunkSeq !== undefined || HAS_WORD.test(piece.text);
    if (piece.words.length > 0 || !isMissed) return;
    this.#isPartial = true;
    const chunkSeq = this.#number(piece);
    this.#updates.push({ name: 'alignment_invalidated', data: { chunkSeq } });
  }

  #tell(piece: Piece, words: readonly WordMark[]): void {
    this.#updates.push({
      name: 'alignment_snapshot',
      data: {
        chunkSeq: this.#number(piece),
        units: 'milliseconds',
        words: words.map((word) => this.#aligned(word)),
      },
    });
  }

  #number(piece: Piece): number {
    if (piece.chunkSeq === undefined) {
      piece.chunkSeq = this.#chunks;
      this.#chunks += 1;
    }
    return piece.chunkSeq;
  }

  #aligned({ start, end, startMs, endMs }: WordMark): AlignedWord {
    return {
      text: this.#characters.slice(start, end).join(''),
      startMs: Math.round(this.#delayMs + startMs),
      endMs: Math.round(this.#delayMs + endMs),
    };
  }
}

function piecesOf(text: string): Piece[] {
  let start = 0;
  return splitClauses(text, LONGEST_STRETCH).map((piece) => {
    const end = start + countCodePoints(piece.text);
    const found = { text: piece.text, start, end, chunkSeq: undefined, words: [] };
    start = end;
    return found;
  });
}

/** Samples below this are silence. */
const SILENCE = 0.01;

/**
 * About when the words of a stretch are said, from nothing but their lengths and where its sound
 * begins and ends: for the time until the engine knows better. Words are parted by white space.
 * @param piece the text that the samples say
 * @param first the code point of the whole text that it begins at
 * @param offsetMs when the samples begin
 */
export function estimateWords(
  piece: string,
  { samples, sampleRate }: Pick<SpeechChunk, 'samples' | 'sampleRate'>,
  { first, offsetMs }: { readonly first: number; readonly offsetMs: number },
): WordMark[] {
  const words = wordsOf(piece, first);
  const sound = soundOf(samples);
  const weights = words.map(({ start, end }) => end - start + 1);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const timeOf = (weight: number): number => {
    const sample = sound.start + ((sound.end - sound.start) * weight) / whole;
    return offsetMs + (sample * 1000) / sampleRate;
  };
  let before = 0;
  return words.map((word, index) => {
    const startMs = timeOf(before);
    before += weights[index] ?? 0;
    return { ...word, startMs, endMs: timeOf(before) };
  });
}

function wordsOf(piece: string, first: number): Pick<WordMark, 'start' | 'end'>[] {
  let units = 0;
  let points = first;
  return Array.from(piece.matchAll(/\S+/g)).flatMap(({ 0: written, index }) => {
    const { at, word } = withoutSilentSigns(written);
    if (word === '') return [];
    points += countCodePoints(piece.slice(units, index + at));
    units = index + at;
    return [{ start: points, end: points + countCodePoints(word) }];
  });
}

/** From the first to the last sample that is heard. */
function soundOf(samples: Float32Array): { readonly start: number; readonly end: number } {
  const start = samples.findIndex(isHeard);
  return start < 0
    ? { start: 0, end: samples.length }
    : { start, end: samples.findLastIndex(isHeard) + 1 };
}

function isHeard(sample: number): boolean {
  return Math.abs(sample) > SILENCE;
}
