import type { AlignedResponse, AlignedOptions } from '../api/resources/aligned.ts';
import { alignedRequest, speakAligned } from '../api/resources/aligned.ts';
import type { ApiClient } from '../api/client.ts';
import { getCapabilities } from '../api/resources/models.ts';
import { reviseFailure } from '../api/failures.ts';
import type { SpeechOrder } from '../api/resources/speech.ts';
import { getVoice } from '../api/resources/voices.ts';
import type { AlignedWord } from '../contract/speech.ts';
import type { Verdict } from '../audio/reader.ts';
import { Failure } from '../errors/failure.ts';
import type { SpeechTransport } from './speak.ts';

/** The words of spoken audio, each with its time in the audio. */
export interface AlignedSpeech {
  readonly words: readonly AlignedWord[];
  /** Whether the service returned a time for every word. */
  readonly isComplete: boolean;
  /** Duration of the decoded audio in milliseconds. */
  readonly durationMs: number;
}

/**
 * Returns a transport that requests an audio stream with word times (docs/api/speech.md#aligned-stream). Once the
 * response has begun, the request cannot be repeated.
 * @param onAligned called with the word times after the audio was verified, before the audio file gets its final name
 */
export function alignedStreamTransport(
  client: ApiClient,
  order: SpeechOrder,
  options: AlignedOptions,
  onAligned: (speech: AlignedSpeech) => Promise<void>,
): SpeechTransport {
  let response: AlignedResponse | undefined;
  return {
    request: alignedRequest(client, order, options),
    async send(onNewKey) {
      response = await requestAligned(client, order, { ...options, onNewKey });
      return response;
    },
    onVerified: (verdict) => onAligned(alignedSpeech(response, verdict)),
  };
}

/** Returns the words of a completed audio stream, each with its time, and the duration of the audio. */
export function alignedSpeech(
  response: Pick<AlignedResponse, 'outcome'> | undefined,
  { durationMs }: Pick<Verdict, 'durationMs'>,
): AlignedSpeech {
  const { isComplete = false, words = [] } = response?.outcome ?? {};
  return {
    words,
    isComplete: isComplete && beginBefore(words, durationMs),
    durationMs: durationMs ?? words.at(-1)?.endMs ?? 0,
  };
}

/** Returns whether all words begin before the end of their audio. A word that begins later has no correct time. */
export function beginBefore(words: readonly AlignedWord[], endMs = Infinity): boolean {
  return words.every(({ startMs }) => startMs < endMs);
}

/**
 * Requests a stream of audio with word times.
 * @throws Failure. If the model does not support word times, the failure lists the models that support them.
 */
export async function requestAligned(
  client: ApiClient,
  order: SpeechOrder,
  options: AlignedOptions,
): Promise<AlignedResponse> {
  try {
    return await speakAligned(client, order, options);
  } catch (error) {
    const isRefused = error instanceof Failure && error.status === 400;
    throw isRefused ? await describeRefusal(error, client, order, options.signal) : error;
  }
}

async function describeRefusal(
  failure: Failure,
  client: ApiClient,
  { modelId, voiceId }: SpeechOrder,
  signal: AbortSignal | undefined,
): Promise<Failure> {
  const models = await getCapabilities(client, { signal, maxRetries: 0 }).then(
    ({ value }) => value.models,
    () => [],
  );
  const able = models
    .filter(({ supportedOperations }) => supportedOperations.alignedStreaming)
    .map(({ id }) => id);
  const own =
    modelId === undefined
      ? await getVoice(client, voiceId, signal).then(
          ({ value }) => value.modelIds,
          () => [],
        )
      : [modelId];
  signal?.throwIfAborted();
  const isUnable =
    models.some(({ id }) => own.includes(id)) && !able.some((id) => own.includes(id));
  if (!isUnable) return failure;
  const problem =
    modelId === undefined
      ? `word times require aligned streams, but no model of the voice ${voiceId} has them`
      : `word times require aligned streams, but the model ${modelId} does not have them`;
  return reviseFailure(failure, {
    message: problem,
    hint:
      able.length === 0
        ? 'No model of this service has aligned streams.'
        : `These models have aligned streams: ${able.join(', ')}. Choose one with --model, and a voice that speaks with it.`,
  });
}
