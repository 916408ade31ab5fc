import type { AlignedResponse, AlignedOptions } from '../../api/resources/aligned.ts';
import { alignedRequest, speakAligned } from '../../api/resources/aligned.ts';
import type { ApiClient } from '../../api/client.ts';
import { getCapabilities } from '../../api/resources/models.ts';
import { reviseFailure } from '../../api/failures.ts';
import type { AudioResponse, SpeechOrder } from '../../api/resources/speech.ts';
import { getVoice } from '../../api/resources/voices.ts';
import type { AlignedWord } from '../../contract/speech.ts';
import type { AudibleInterval } from '../../durable/output.ts';
import { Failure } from '../../errors/failure.ts';
import { SPEAKABLE } from '../../text/parts.ts';
import type { SpeechTransport } from './speak-stream.ts';

/** The words of spoken audio, each with its time in the audio. */
export interface WordTimes {
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
  onAligned: (speech: WordTimes) => Promise<void>,
): SpeechTransport {
  return {
    request: alignedRequest(client, order, options),
    isAligned: true,
    send: ({ onNewKey }) => requestAligned(client, order, { ...options, onNewKey }),
    onVerified: (audio, verdict, audible) =>
      onAligned(
        audibleSpeech(alignedSpeech(order.text, audio.outcome, verdict.durationMs), audible),
      ),
  };
}

/**
 * Returns the words of a completed audio stream, each with its time, and the duration of the audio. Leaves out words with
 * impossible times, so that they do not take the time of other words.
 * @param text the text of the request
 */
export function alignedSpeech(
  text: string,
  outcome: AudioResponse['outcome'],
  durationMs: number | undefined,
): WordTimes {
  const { isComplete = false, words: given = [] } = outcome ?? {};
  const words = possibleWords(given, durationMs);
  const areAll = words.length === given.length && (words.length > 0 || !SPEAKABLE.test(text));
  return {
    words,
    isComplete: isComplete && areAll,
    durationMs: durationMs ?? words.at(-1)?.endMs ?? 0,
  };
}

/** Converts word times to times in the part of the audio that a file has; undefined if the file has all of it. */
export function audibleSpeech(speech: WordTimes, audible: AudibleInterval | undefined): WordTimes {
  if (audible === undefined) return speech;
  const { endMs, startMs } = audible;
  const within = (ms: number): number => Math.min(Math.max(ms, startMs), endMs) - startMs;
  const words = speech.words.map(({ text, ...word }) => {
    return { text, startMs: within(word.startMs), endMs: within(word.endMs) };
  });
  return { ...speech, words, durationMs: endMs - startMs };
}

// A word that begins after the end of the audio is wrong. Of words whose starts decrease, the fewest are wrong. If
// words last less than a millisecond on average, all are wrong: for example, their times are in seconds.
function possibleWords(words: readonly AlignedWord[], endMs = Infinity): readonly AlignedWord[] {
  const inAudio = words.filter(({ startMs }) => startMs < endMs);
  const lengthMs = inAudio.reduce((sum, word) => sum + word.endMs - word.startMs, 0);
  return lengthMs < inAudio.length ? [] : longestOrdered(inAudio);
}

// The longest sequence of words whose starts never decrease.
function longestOrdered(words: readonly AlignedWord[]): readonly AlignedWord[] {
  // For each length, the sequence that ends earliest: its last word, which knows the word before it.
  const ends: Ordered[] = [];
  for (const word of words) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.word.startMs ?? 0) <= word.startMs) low = middle + 1;
      else high = middle;
    }
    ends[low] = { word, before: ends[low - 1] };
  }
  const ordered: AlignedWord[] = [];
  for (let last = ends.at(-1); last !== undefined; last = last.before) ordered.push(last.word);
  return ordered.toReversed();
}

interface Ordered {
  readonly word: AlignedWord;
  readonly before: Ordered | undefined;
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
