import { createHash } from 'node:crypto';
import { closeQuietly } from '../../system/concurrency.ts';
import { splitClauses } from '../../text/sentences.ts';
import { WAV_HEADER_LENGTH } from '../../audio/encode/pcm.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';
import { EngineError } from '../engine/speech-engine.ts';
import type { SpeechContext } from '../speech/speak.ts';
import { pronouncedIn } from '../speech/pronunciations.ts';
import { startAudio } from '../speech/speak.ts';
import type { RequestPlan } from './plan-request.ts';

// Longer than the timeout of a silent engine, so that the failure has its message and the end of its stderr.
const CHUNK_TIMEOUT_MS = 70_000;

export class ProviderTimeout extends Error {
  override readonly name = 'ProviderTimeout';

  constructor() {
    super('the engine took too long');
  }
}

interface SegmentSpeech {
  readonly plan: RequestPlan;
  readonly text: string;
  /** Number of the segment in the request, from 1. */
  readonly number: number;
  /** True to send a WAV header. Only the first segment with audio has one, because clients concatenate the audio. */
  readonly hasHeader: boolean;
  readonly account: string;
  readonly context: SpeechContext;
  readonly signal: AbortSignal;
}

/**
 * Yields the audio of a segment while the engine is still speaking. The same segment always gets the same bytes.
 * @throws EngineError for text without words; ProviderTimeout if the engine is too slow; on abort, the signal's abort
 * reason
 */
export async function* segmentAudio(speech: SegmentSpeech): AsyncGenerator<Uint8Array> {
  const { clock, encode, speechQueue } = speech.context;
  const halt = new AbortController();
  const signal = AbortSignal.any([speech.signal, halt.signal]);
  const within = async <Result>(work: Promise<Result>): Promise<Result> => {
    const stop = clock.after(CHUNK_TIMEOUT_MS, () => halt.abort(new ProviderTimeout()));
    try {
      return await work;
    } finally {
      stop();
    }
  };
  const { plan, text, number } = speech;
  const { voice, gainDb, settings, format, pronunciations } = plan;
  const request = { voice: voice.engine.voice, ...settings };
  const speak = (part: string): AsyncIterable<SpeechChunk> =>
    speechQueue.synthesize({
      account: speech.account,
      speaker: voice.speaker,
      request: { ...request, text: part, pronounced: pronouncedIn(part, pronunciations) },
      signal,
      isAdmitted: true,
    });
  const chunks = speakText(speak, text, plan.chunkLength);
  const audio = await within(startAudio({ chunks, format, gainDb, streamNumber: number }, encode));
  try {
    const isHeaderless = format === 'wav' && !speech.hasHeader;
    yield* skipBytes(audio.head, isHeaderless ? WAV_HEADER_LENGTH : 0);
    for (;;) {
      const next = await within(audio.rest.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    void closeQuietly(audio.rest);
  }
}

function* skipBytes(parts: readonly Uint8Array[], length: number): Generator<Uint8Array> {
  let skip = length;
  for (const part of parts) {
    const rest = part.subarray(Math.min(skip, part.length));
    skip -= part.length - rest.length;
    if (rest.length > 0) yield rest;
  }
}

// Skips chunks that have no words. For `chunkLength`, see `chunk_length` in docs/api/realtime.md.
async function* speakText(
  speak: (part: string) => AsyncIterable<SpeechChunk>,
  text: string,
  chunkLength: number | undefined,
): AsyncGenerator<SpeechChunk> {
  if (chunkLength === undefined) return yield* speak(text);
  let hasSpoken = false;
  for (const part of splitClauses(text, chunkLength)) {
    try {
      for await (const chunk of speak(part.text)) {
        hasSpoken = true;
        yield chunk;
      }
    } catch (error) {
      if (!isUnspeakable(error)) throw error;
    }
  }
  if (!hasSpoken)
    throw new EngineError('unspeakable', 'The text contains nothing that can be spoken.');
}

/** Returns whether an error means that the text has no words to speak. */
export function isUnspeakable(error: unknown): boolean {
  return error instanceof EngineError && error.reason === 'unspeakable';
}

/** Returns a hash of a text, which is stored instead of the text. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('base64url');
}
