import { createHash } from 'node:crypto';
import type { RealtimeFormat } from '../../contract/realtime/protocols.ts';
import type { Clock } from '../../effects/clock.ts';
import { closeQuietly } from '../../effects/close-quietly.ts';
import { splitClauses } from '../../text/sentences.ts';
import { WAV_HEADER_LENGTH } from '../engine/encode/pcm.ts';
import type { EngineRequest, SpeechChunk, SpeechEngine } from '../engine/speech-engine.ts';
import { EngineError } from '../engine/speech-engine.ts';
import type { SpeechQueue } from '../speech/speech-queue.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import { startAudio } from '../speech/speak.ts';
import type { RequestPlan } from './plan-request.ts';

/** How long the engine may take for the next of its speech. */
const PROVIDER_MS = 60_000;

/** The engine was silent for too long. */
export class ProviderTimeout extends Error {
  override readonly name = 'ProviderTimeout';

  constructor() {
    super('the engine is silent');
  }
}

interface SegmentSound {
  readonly plan: RequestPlan;
  readonly text: string;
  /** Its place in the request, from 1. */
  readonly number: number;
  /** A wav has its head once in a request: its frames are to be joined. */
  readonly hasHead: boolean;
  readonly encode: EncodeSpeech;
  readonly account: string;
  readonly speechQueue: SpeechQueue;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The audio of a segment, piece by piece; nothing comes before there is speech in it. The same text gives
 * the same pieces again.
 * @throws EngineError when nothing can be said; ProviderTimeout; the reason of the signal
 */
export async function* segmentAudio(sound: SegmentSound): AsyncGenerator<Uint8Array> {
  const halt = new AbortController();
  const signal = AbortSignal.any([sound.signal, halt.signal]);
  const within = async <Result>(work: Promise<Result>): Promise<Result> => {
    const stop = sound.clock.after(PROVIDER_MS, () => halt.abort(new ProviderTimeout()));
    try {
      return await work;
    } finally {
      stop();
    }
  };
  const { plan, text, number } = sound;
  const { voice, delivery, format } = plan;
  const { speed, pitch, gainDb } = delivery;
  const request = { text, voice: voice.engine.voice, speed, pitch };
  const speaker = {
    synthesize: (stretch: EngineRequest, until: AbortSignal) =>
      sound.speechQueue.synthesize({
        account: sound.account,
        speaker: voice.speaker,
        request: stretch,
        signal: until,
        isAdmitted: true,
      }),
  };
  const chunks = speakText(speaker, request, { chunkLength: plan.chunkLength, signal });
  const audio = await within(
    startAudio({ chunks, format, gainDb, streamNumber: number }, sound.encode),
  );
  try {
    yield* withoutHead(audio.head, sound.hasHead ? 0 : headLength(format));
    for (;;) {
      const next = await within(audio.rest.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    void closeQuietly(audio.rest);
  }
}

function headLength(format: RealtimeFormat): number {
  return format === 'wav' ? WAV_HEADER_LENGTH : 0;
}

function* withoutHead(parts: readonly Uint8Array[], length: number): Generator<Uint8Array> {
  let left = length;
  for (const part of parts) {
    const kept = part.subarray(Math.min(left, part.length));
    left -= part.length - kept.length;
    if (kept.length > 0) yield kept;
  }
}

/**
 * Speaks a text, at most so many characters in one go where that is asked for (docs/api/realtime.md, `chunk_length`). A stretch that holds nothing to say is passed over.
 * @throws EngineError when nothing of it can be said, or the engine breaks
 */
async function* speakText(
  engine: Pick<SpeechEngine, 'synthesize'>,
  request: EngineRequest,
  {
    chunkLength,
    signal,
  }: { readonly chunkLength: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<SpeechChunk> {
  if (chunkLength === undefined) return yield* engine.synthesize(request, signal);
  let hasSpoken = false;
  for (const { text } of splitClauses(request.text, chunkLength)) {
    try {
      for await (const chunk of engine.synthesize({ ...request, text }, signal)) {
        hasSpoken = true;
        yield chunk;
      }
    } catch (error) {
      if (!isUnspeakable(error)) throw error;
    }
  }
  if (!hasSpoken) throw new EngineError('unspeakable', 'The text has nothing to say.');
}

/** Whether a text holds nothing that a voice can say, rather than that something broke. */
export function isUnspeakable(error: unknown): boolean {
  return error instanceof EngineError && error.reason === 'unspeakable';
}

/** Tells a text from every other one, so that it need not be kept. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('base64url');
}
