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

/** Words with their times, and how long the audio is that they belong to. */
export interface AlignedSpeech {
  readonly words: readonly AlignedWord[];
  /** False: the service did not complete the timing. */
  readonly isComplete: boolean;
  /** Of the audio itself, as its bytes tell. */
  readonly durationMs: number;
}

/**
 * Speech over an aligned stream (docs/api/speech.md#aligned-stream), whose audio cannot be had again once it began.
 * @param onAligned told the times when all of the audio came and was checked, before that gets its name
 */
export function alignedStreamTransport(
  client: ApiClient,
  order: SpeechOrder,
  options: AlignedOptions,
  onAligned: (speech: AlignedSpeech) => Promise<void>,
): SpeechTransport {
  let answer: AlignedResponse | undefined;
  return {
    request: alignedRequest(client, order, options),
    async ask(onNewKey) {
      answer = await askAligned(client, order, { ...options, onNewKey });
      return answer;
    },
    async arrived(verdict) {
      await onAligned(alignedSpeech(answer, verdict));
    },
  };
}

/** What a stream told that was read to its end. */
export function alignedSpeech(
  answer: Pick<AlignedResponse, 'outcome'> | undefined,
  { durationMs }: Pick<Verdict, 'durationMs'>,
): AlignedSpeech {
  const { isComplete = false, words = [] } = answer?.outcome ?? {};
  return { words, isComplete, durationMs: durationMs ?? words.at(-1)?.endMs ?? 0 };
}

/**
 * Begins an aligned stream.
 * @throws Failure; of a model that has none it names those that have
 */
export async function askAligned(
  client: ApiClient,
  order: SpeechOrder,
  options: AlignedOptions,
): Promise<AlignedResponse> {
  try {
    return await speakAligned(client, order, options);
  } catch (error) {
    const isRefused = error instanceof Failure && error.status === 400;
    throw isRefused ? await explained(error, client, order, options.signal) : error;
  }
}

/** A request may be refused for many reasons; only the capabilities tell whether the model is one. */
async function explained(
  failure: Failure,
  client: ApiClient,
  { modelId, voiceId }: SpeechOrder,
  signal: AbortSignal | undefined,
): Promise<Failure> {
  const call = { signal, maxRetries: 0 };
  const models = await getCapabilities(client, call).then(
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
  const which = modelId === undefined ? `no model of the voice ${voiceId}` : `the model ${modelId}`;
  const has = modelId === undefined ? 'has' : 'does not have';
  return reviseFailure(failure, {
    message: `${which} ${has} aligned streams, which tell when words are said`,
    hint:
      able.length === 0
        ? 'No model of this service has them.'
        : `These models have them: ${able.join(', ')}. Choose one with --model, and a voice that speaks with it.`,
  });
}
