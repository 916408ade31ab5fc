import type { AlignedWord } from '../../contract/speech.ts';
import { streamErrorExit } from '../../contract/exit-codes.ts';
import type { Clock } from '../../effects/clock.ts';
import { Failure } from '../../errors/failure.ts';
import type { Answer } from '../response.ts';
import { badAnswer } from '../response.ts';
import { IDLE_TIMEOUT_MS } from '../attempt.ts';
import type { AudioAnswer } from '../audio-response.ts';
import type { ApiClient } from '../client.ts';
import { charged, reviseFailure } from '../failures.ts';
import { endpoint } from '../request.ts';
import type { RequestSpec } from '../request.ts';
import type { SpeechOptions, SpeechOrder } from './speech.ts';
import { speechRequest } from './speech.ts';
import type { CompletedFacts, StreamEnd } from './aligned-events.ts';
import { Alignment, AudioMemory, readBatch, EventTooLarge, sseEvents } from './aligned-events.ts';

/** Speech with the times of its words, as it arrives. */
export interface AlignedAnswer extends AudioAnswer {
  /** What the times came to; undefined until the body was read to its end. */
  readonly outcome: AlignedOutcome | undefined;
}

export interface AlignedOutcome {
  /** In the order of the text; from the start of the full audio. */
  readonly words: readonly AlignedWord[];
  /** False: the service did not complete the timing, and some words may have none. */
  readonly isComplete: boolean;
  readonly generationId: string | undefined;
}

export interface AlignedOptions extends Omit<SpeechOptions, 'cache' | 'surface'> {
  readonly clock: Clock;
  /** Longest wait for the next event; heartbeats are none. By default a minute. */
  readonly idleTimeoutMs?: number | undefined;
}

/** A packet of audio is kilobytes, the words of a sentence too. */
const EVENT_MAX_BYTES = 32 * 1024 * 1024;

/** The request of {@link speakAligned}, to be described or sent. */
export function alignedRequest(
  client: ApiClient,
  order: SpeechOrder,
  options: Omit<SpeechOptions, 'cache' | 'surface'>,
): RequestSpec {
  return {
    ...speechRequest(client, order, { ...options, surface: 'v3' }),
    ...endpoint('createAlignedSpeech'),
    accept: 'text/event-stream, application/json',
  };
}

/**
 * Speaks a text and has the times of its words told (docs/api/speech.md#v3 and docs/api/speech.md#aligned-stream): resolves when the
 * stream begins. Its body throws a Failure unless the stream ends with `completed`: with the exit of its
 * code after `error`, else as an unusable answer; what came before stays valid audio, but not the whole.
 * @throws Failure; status first, then content type
 */
export async function speakAligned(
  client: ApiClient,
  order: SpeechOrder,
  options: AlignedOptions,
): Promise<AlignedAnswer> {
  const answer = await client.send(alignedRequest(client, order, options));
  if (answer.status === 200 && answer.headers.contentType === 'text/event-stream') {
    return new StreamedSpeech(client, answer, options);
  }
  const { contentType = 'of no type' } = answer.headers;
  answer.discard();
  throw charged(
    badAnswer(`the answer (${answer.status}) is ${contentType}, not a stream of events`, answer),
  );
}

class StreamedSpeech implements AlignedAnswer {
  readonly body: AsyncIterable<Uint8Array>;
  readonly contentType = 'text/event-stream';
  readonly contentLength = undefined;
  readonly pcm = undefined;
  /** Its end is proven by an event of its own. */
  readonly framing = 'chunked';
  readonly ignoredParameters: readonly string[];
  outcome: AlignedOutcome | undefined;
  readonly #answer: Answer;
  readonly maxBytes: number | undefined;
  readonly #client: Pick<ApiClient, 'redact'>;
  readonly #options: Pick<AlignedOptions, 'clock' | 'idleTimeoutMs'>;
  readonly #memory = new AudioMemory();
  #completed: CompletedFacts | undefined;

  constructor(
    client: Pick<ApiClient, 'maxBytes' | 'redact'>,
    answer: Answer,
    options: Pick<AlignedOptions, 'clock' | 'idleTimeoutMs'>,
  ) {
    this.#client = client;
    this.maxBytes = client.maxBytes;
    this.#answer = answer;
    this.#options = options;
    this.ignoredParameters = answer.headers.ignoredParameters;
    this.body = { [Symbol.asyncIterator]: () => this.#audio() };
  }

  get requestId(): string {
    return this.#completed?.requestId ?? this.#answer.requestId;
  }

  get creditsUsed(): number | undefined {
    return this.#completed?.creditsUsed ?? this.#answer.headers.creditsUsed;
  }

  get quotaRemaining(): number | undefined {
    return this.#completed?.quotaRemaining ?? this.#answer.headers.quotaRemaining;
  }

  discard(): void {
    this.#answer.discard();
  }

  reuse(chunk: Uint8Array): void {
    this.#memory.giveBack(chunk);
  }

  /** Only events are progress: a service that does nothing but say that it is there has stopped. */
  async *#audio(): AsyncGenerator<Uint8Array, void, undefined> {
    const { clock } = this.#options;
    const alignment = new Alignment();
    let since = clock.monotonic();
    let isEmpty = true;
    try {
      for await (const batch of sseEvents(this.#answer.body, { limitBytes: EVENT_MAX_BYTES })) {
        const { audio, end, hasNews } = readBatch(batch, this.#memory, alignment);
        isEmpty &&= audio === undefined;
        if (audio !== undefined) yield audio;
        if (end?.kind === 'completed' && !isEmpty) return this.#conclude(end.facts, alignment);
        if (end !== undefined) throw this.#stopped(end);
        // Whoever reads slowly takes time that is not the service's.
        if (hasNews) since = clock.monotonic();
        else this.#checkIdle(clock.monotonic() - since);
      }
    } catch (error) {
      throw error instanceof EventTooLarge ? this.#unusable(error.message, error) : error;
    }
    throw this.#unusable('the stream ended before it said that it was complete');
  }

  #checkIdle(idleMs: number): void {
    const { idleTimeoutMs = IDLE_TIMEOUT_MS } = this.#options;
    if (idleMs <= idleTimeoutMs) return;
    throw this.#unusable(`nothing but heartbeats came for ${idleTimeoutMs / 1_000} s`);
  }

  #conclude(facts: CompletedFacts, alignment: Alignment): void {
    this.#completed = facts;
    this.outcome = {
      words: alignment.words(),
      isComplete: facts.alignmentStatus === 'complete' && alignment.isWhole,
      generationId: facts.generationId,
    };
  }

  #stopped(end: StreamEnd): Failure {
    switch (end.kind) {
      case 'completed':
        return this.#unusable('the stream has no audio in it');
      case 'error':
        return this.#failed(end);
      case 'unreadable':
        return this.#unusable(end.error.message, end.error);
    }
  }

  #failed({ code, message, requestId }: Extract<StreamEnd, { kind: 'error' }>) {
    const named = code === '' ? 'without a code' : `with ${code}`;
    const said = message === undefined ? named : `${named}: ${message}`;
    const { isEmbedded } = this.#answer.headers;
    return this.#client.redact(
      new Failure(`the service stopped the speech half way, ${said}`, {
        code: code === '' ? 'bad_answer' : code,
        exit: streamErrorExit(code) ?? 'service',
        hint: isEmbedded
          ? 'It was refunded.'
          : 'Such a stream cannot be resumed: look with `foley profile` whether it was charged before you ask again.',
        requestId: requestId ?? this.requestId,
        billed: isEmbedded ? 'no' : 'unknown',
      }),
    );
  }

  #unusable(message: string, cause?: unknown): Failure {
    const failure = charged(badAnswer(message, this.#answer, cause));
    return reviseFailure(failure, {
      hint: 'If it happens again, ask the service, with the request id.',
    });
  }
}
