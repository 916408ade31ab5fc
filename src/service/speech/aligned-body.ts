import type {
  AlignedCompleted,
  AlignedError,
  AlignmentStatus,
  AlignedWord,
  AlignmentInvalidated,
  AlignmentSnapshot,
} from '../../contract/speech.ts';
import type { Clock } from '../../system/clock.ts';
import { closeQuietly } from '../../system/concurrency.ts';
import { codecDelayMs } from '../engine/encode/encode-speech.ts';
import type { SpeechChunk, TextSpan, WordMark } from '../engine/speech-engine.ts';
import { EngineError, LONGEST_PIECE } from '../engine/speech-engine.ts';
import type { Speaking, SpokenStream } from './speak.ts';
import { generate, observe, requireSettled, settledBody, speechOf } from './speak.ts';
import type { ServiceError } from '../service-error.ts';
import { countCodePoints, withoutSilentSigns } from '../../text/code-points.ts';
import { splitClauses } from '../../text/sentences.ts';

const HEARTBEAT_MS = 10_000;

/**
 * Starts speech with word times: waits for the first audio, spends the reserved credits and returns a body that
 * streams the rest (docs/api/speech.md#aligned-stream and docs/api/errors.md#idempotency).
 * @throws ServiceError for the same reasons as `speakStream`
 */
export function speakAligned(speaking: Speaking): Promise<SpokenStream> {
  const { operation, plan } = speaking;
  return generate(speaking, plan.textField, async (generation) => {
    const rest = alignedEvents(speaking, generation.signal);
    const head: SpokenEvent[] = [];
    while (head.at(-1)?.name !== 'audio') {
      const next = await rest.next();
      if (next.done === true) {
        throw new EngineError('unspeakable', 'The text contains nothing that this voice can speak');
      }
      head.push(next.value);
    }
    const { quota } = requireSettled(operation.commit());
    const { clock } = speaking.context;
    const source = alignedSource(speaking, withHeartbeats(head, rest, clock), quota);
    const body = settledBody(speaking, generation, { rest, ...source });
    return { body, quotaRemaining: quota };
  });
}

function alignedSource(
  { operation, plan, requestId }: Speaking,
  nextEvent: () => Promise<Next | 'heartbeat'>,
  quotaRemaining: number,
) {
  let alignmentStatus: AlignmentStatus = 'partial';
  return {
    async next(): Promise<Uint8Array | undefined> {
      const event = await nextEvent();
      if (event === 'heartbeat') return HEARTBEAT;
      if (event.done !== true) return encodeEvent(event.value);
      alignmentStatus = event.value;
      return undefined;
    },
    completed(): Uint8Array {
      const data: AlignedCompleted = {
        requestId,
        generationId: operation.id,
        alignmentStatus,
        quotaRemaining,
        creditsUsed: plan.charge.credits,
      };
      return serverSentEvent('completed', data);
    },
    failed({ code, message }: ServiceError): Uint8Array {
      const data: AlignedError = { requestId, code, message };
      return serverSentEvent('error', data);
    },
  };
}

const HEARTBEAT: Uint8Array = Buffer.from(': heartbeat\n\n');

function encodeEvent(event: SpokenEvent): Uint8Array {
  if (event.name !== 'audio') return serverSentEvent(event.name, event.data);
  return serverSentEvent('audio', { audioBase64: Buffer.from(event.bytes).toString('base64') });
}

function serverSentEvent(name: string, data: unknown): Uint8Array {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

type Next = IteratorResult<SpokenEvent, AlignmentStatus>;

function withHeartbeats(
  head: SpokenEvent[],
  rest: AsyncIterator<SpokenEvent, AlignmentStatus>,
  clock: Clock,
): () => Promise<Next | 'heartbeat'> {
  let pending: Promise<Next> | undefined;
  return async () => {
    const first = head.shift();
    if (first !== undefined) return { value: first, done: false };
    pending ??= rest.next();
    const timer: { stop?: () => void } = {};
    const late = new Promise<'heartbeat'>((resolve) => {
      timer.stop = clock.after(HEARTBEAT_MS, () => resolve('heartbeat'));
    });
    try {
      const next = await Promise.race([pending, late]);
      if (next !== 'heartbeat') pending = undefined;
      return next;
    } finally {
      timer.stop?.();
    }
  };
}

type SpokenEvent = { readonly name: 'audio'; readonly bytes: Uint8Array } | AlignmentUpdate;

async function* alignedEvents(
  speaking: Speaking,
  signal: AbortSignal,
): AsyncGenerator<SpokenEvent, AlignmentStatus> {
  const { context, plan } = speaking;
  const { engineRequest, format, gainDb, isUnspokenKnown, unspoken } = plan;
  const timed = {
    ...speaking,
    plan: { ...plan, engineRequest: { ...engineRequest, isTimed: true } },
  };
  const alignment = new SpeechAlignment(engineRequest.text, codecDelayMs(format), isUnspokenKnown);
  const updates = new Wakeup();
  const chunks = observe(speechOf(timed, signal), (chunk) => {
    alignment.add(chunk);
    updates.notify();
  });
  const encoded = context.encode(format, chunks, { gainDb })[Symbol.asyncIterator]();
  try {
    let next = startNext(encoded);
    for (;;) {
      const audio = await Promise.race([next, updates.next]);
      // Updates that arrive from now on wake the next iteration.
      void updates.reset();
      for (const update of alignment.take()) yield update;
      if (audio === undefined) continue;
      if (audio.done === true) break;
      yield { name: 'audio', bytes: audio.value };
      next = startNext(encoded);
    }
    const status = alignment.finish();
    yield* alignment.take();
    return unspoken.length > 0 ? 'partial' : status;
  } finally {
    void closeQuietly(encoded);
  }
}

function startNext(encoded: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  const next = encoded.next();
  next.catch(() => {});
  return next;
}

class Wakeup {
  #wake: () => void = () => {};
  next: Promise<undefined> = this.reset();

  reset(): Promise<undefined> {
    this.next = new Promise((resolve) => {
      this.#wake = () => resolve(undefined);
    });
    return this.next;
  }

  notify(): void {
    this.#wake();
  }
}

export type AlignmentUpdate =
  | { readonly name: 'alignment_snapshot'; readonly data: AlignmentSnapshot }
  | { readonly name: 'alignment_invalidated'; readonly data: AlignmentInvalidated };

const HAS_WORD = /[\p{L}\p{N}]/u;

interface AlignedPiece {
  readonly text: string;
  /** Start and end of this piece, as code-point positions in the whole text; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Number that identifies this piece in updates to the client; assigned with the first update. */
  chunkSeq: number | undefined;
  words: readonly WordMark[];
}

/**
 * Creates the updates with word times that the client receives during speech (docs/api/speech.md#aligned-stream). Each
 * update is about one sentence or clause. Its times are first estimated from the audio, and later replaced by the times
 * that the engine reports. If the engine reports none, an update invalidates the estimate.
 */
export class SpeechAlignment {
  readonly #characters: readonly string[];
  readonly #pieces: readonly AlignedPiece[];
  readonly #delayMs: number;
  readonly #isKnown: boolean;
  #updates: AlignmentUpdate[] = [];
  #current = 0;
  #chunks = 0;
  #spokenMs = 0;
  #isPartial = false;

  /**
   * @param delayMs time in the audio, in milliseconds, at which the speech starts
   * @param isKnown true if the engine declares which words it leaves out. If false, a word without a time makes the
   * result `partial`.
   */
  constructor(text: string, delayMs: number, isKnown = false) {
    this.#isKnown = isKnown;
    this.#characters = Array.from(text);
    this.#pieces = piecesOf(text);
    this.#delayMs = delayMs;
  }

  /** Returns the updates to send to the client: those made since the last call. */
  take(): readonly AlignmentUpdate[] {
    const updates = this.#updates;
    this.#updates = [];
    return updates;
  }

  /** Adds a chunk of speech. Call it before the audio of the chunk is sent. */
  add(chunk: SpeechChunk): void {
    const { samples, sampleRate, span, words = [] } = chunk;
    if (span !== undefined && samples.length > 0) this.#estimate(span.start, chunk);
    this.#spokenMs += (samples.length * 1000) / sampleRate;
    const touched = new Set<AlignedPiece>();
    for (const word of words) {
      const piece = this.#advance(word.start);
      if (piece === undefined) continue;
      piece.words = [...piece.words, word];
      touched.add(piece);
    }
    for (const piece of touched) this.#update(piece, piece.words);
  }

  /** Call this at the end of the speech. Returns `complete` if all spoken words have times, otherwise `partial`. */
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
    if (words.length > 0) this.#update(piece, words);
  }

  #advance(at: number): AlignedPiece | undefined {
    for (;;) {
      const piece = this.#pieces[this.#current];
      if (piece === undefined || at < piece.end) return piece;
      this.#end(piece);
      this.#current += 1;
    }
  }

  #end(piece: AlignedPiece): void {
    const isMissed = piece.chunkSeq !== undefined || HAS_WORD.test(piece.text);
    if (piece.words.length > 0) {
      this.#isPartial ||= !this.#isKnown && this.#hasUntimedWord(piece);
      return;
    }
    if (!isMissed) return;
    this.#isPartial = true;
    const chunkSeq = this.#number(piece);
    this.#updates.push({ name: 'alignment_invalidated', data: { chunkSeq } });
  }

  #hasUntimedWord({ start: first, text, words }: AlignedPiece): boolean {
    return wordsOf(text, first).some(
      ({ start, end }) =>
        HAS_WORD.test(this.#characters.slice(start, end).join('')) &&
        !words.some((timed) => timed.start < end && start < timed.end),
    );
  }

  #update(piece: AlignedPiece, words: readonly WordMark[]): void {
    this.#updates.push({
      name: 'alignment_snapshot',
      data: {
        chunkSeq: this.#number(piece),
        units: 'milliseconds',
        words: words.map((word) => this.#aligned(word)),
      },
    });
  }

  #number(piece: AlignedPiece): number {
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

function piecesOf(text: string): AlignedPiece[] {
  let start = 0;
  return splitClauses(text, LONGEST_PIECE).map((piece) => {
    const end = start + countCodePoints(piece.text);
    const found = { text: piece.text, start, end, chunkSeq: undefined, words: [] };
    start = end;
    return found;
  });
}

const SILENCE = 0.01;

/**
 * Estimates when each word is spoken: divides the time from the first to the last audible sample in proportion to the
 * lengths of the words.
 * @param piece text that the samples speak, with white space between words
 * @param first position of the piece in the whole text, in code points
 * @param offsetMs time in milliseconds at which the samples start
 */
export function estimateWords(
  piece: string,
  { samples, sampleRate }: SpeechChunk,
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

function wordsOf(piece: string, first: number): TextSpan[] {
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

function soundOf(samples: Float32Array): { readonly start: number; readonly end: number } {
  const start = samples.findIndex(isAudible);
  return start < 0
    ? { start: 0, end: samples.length }
    : { start, end: samples.findLastIndex(isAudible) + 1 };
}

function isAudible(sample: number): boolean {
  return Math.abs(sample) > SILENCE;
}
