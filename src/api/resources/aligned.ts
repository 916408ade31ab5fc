import type { CodePointRange } from '../../contract/unspoken.ts';
import { streamErrorExit } from '../../contract/exit-codes.ts';
import type { Clock } from '../../system/clock.ts';
import { Failure } from '../../errors/failure.ts';
import type { ApiResponse } from '../response.ts';
import { badResponse } from '../response.ts';
import { IDLE_TIMEOUT_MS, SERVE_IDLE_TIMEOUT_MS } from '../client.ts';
import type { AlignedOutcome, AudioResponse, SpeechOptions, SpeechOrder } from './speech.ts';
import type { ApiClient } from '../client.ts';
import { maybeBilled, reviseFailure } from '../failures.ts';
import { endpoint } from '../request.ts';
import type { RequestSpec } from '../request.ts';
import { speechRequest } from './speech.ts';
import type { CompletedFields, StreamEnd } from './aligned-events.ts';
import { StreamAlignment, AudioMemory, readBatch, SseEvents } from './aligned-events.ts';

export interface AlignedResponse extends AudioResponse {
  /** The word times; undefined until the whole body has been read. */
  readonly outcome: AlignedOutcome | undefined;
}

export interface AlignedOptions extends SpeechOptions {
  readonly clock: Clock;
  /** Maximum wait for the next event, in milliseconds; default one minute. Heartbeats do not count as events. */
  readonly idleTimeoutMs?: number | undefined;
}

const EVENT_MAX_BYTES = 32 * 1024 * 1024;

/** Builds the request that {@link speakAligned} sends. */
export function alignedRequest(
  client: ApiClient,
  order: SpeechOrder,
  options: SpeechOptions,
): RequestSpec {
  return {
    ...speechRequest(client, order, { ...options, surface: 'v3' }),
    ...endpoint('createAlignedSpeech'),
    accept: 'text/event-stream, application/json',
  };
}

/**
 * Speaks a text with word times (docs/api/speech.md#aligned-stream). Resolves when the stream begins. Reading the body
 * throws a Failure unless the stream ends with a `completed` event.
 * @throws Failure for an error status, or a response that is not an event stream
 */
export async function speakAligned(
  client: ApiClient,
  order: SpeechOrder,
  options: AlignedOptions,
): Promise<AlignedResponse> {
  const response = await client.send(alignedRequest(client, order, options));
  const { status } = response;
  const { contentType = 'of no type' } = response.headers;
  if (status === 200 && contentType === 'text/event-stream') {
    return new StreamedSpeech(client, response, options);
  }
  response.discard();
  const message = `the response (${status}) is ${contentType}, not an event stream`;
  throw maybeBilled(badResponse(message, response));
}

class StreamedSpeech implements AlignedResponse {
  readonly body: AsyncIterable<Uint8Array>;
  readonly contentType = 'text/event-stream';
  readonly contentLength = undefined;
  readonly pcm = undefined;
  // The stream is complete only with its final event.
  readonly framing = 'chunked';
  readonly ignoredParameters: readonly string[];
  readonly unspoken: readonly CodePointRange[];
  outcome: AlignedOutcome | undefined;
  readonly #response: ApiResponse;
  readonly maxBytes: number | undefined;
  readonly #client: ApiClient;
  readonly #options: AlignedOptions;
  readonly #memory = new AudioMemory();
  #completed: CompletedFields | undefined;

  constructor(client: ApiClient, response: ApiResponse, options: AlignedOptions) {
    this.#client = client;
    this.maxBytes = client.maxBytes;
    this.#response = response;
    this.#options = options;
    this.ignoredParameters = response.headers.ignoredParameters;
    this.unspoken = response.headers.unspoken;
    this.body = { [Symbol.asyncIterator]: () => this.#audio() };
  }

  get requestId(): string {
    return this.#completed?.requestId ?? this.#response.requestId;
  }

  get creditsUsed(): number | undefined {
    return this.#completed?.creditsUsed ?? this.#response.headers.creditsUsed;
  }

  get quotaRemaining(): number | undefined {
    return this.#completed?.quotaRemaining ?? this.#response.headers.quotaRemaining;
  }

  discard(): void {
    this.#response.discard();
  }

  reuse(chunk: Uint8Array): void {
    this.#memory.giveBack(chunk);
  }

  // Heartbeats do not reset the idle timeout.
  async *#audio(): AsyncGenerator<Uint8Array, void, undefined> {
    const { clock } = this.#options;
    const events = new SseEvents(EVENT_MAX_BYTES);
    const alignment = new StreamAlignment();
    let since = clock.monotonic();
    let isEmpty = true;
    for await (const bytes of this.#response.body) {
      const batch = events.add(bytes);
      if (batch !== undefined) {
        const { audio, end, hasNews } = readBatch(batch, this.#memory, alignment);
        isEmpty &&= audio === undefined;
        if (audio !== undefined) yield audio;
        if (end?.kind === 'completed' && !isEmpty) return this.#conclude(end.facts, alignment);
        if (end !== undefined) throw this.#stopped(end);
        // The time that the caller takes to read audio does not count as idle.
        if (hasNews) since = clock.monotonic();
        else this.#checkIdle(clock.monotonic() - since);
      }
      if (events.isTooLarge) {
        throw this.#unusable(`an event is larger than ${EVENT_MAX_BYTES} bytes`);
      }
    }
    throw this.#unusable('the stream ended without a completed event');
  }

  #checkIdle(idleMs: number): void {
    const { isEmbedded } = this.#response.headers;
    const usual = isEmbedded ? SERVE_IDLE_TIMEOUT_MS : IDLE_TIMEOUT_MS;
    const { idleTimeoutMs = usual } = this.#options;
    if (idleMs <= idleTimeoutMs) return;
    throw this.#unusable(`the stream sent only heartbeats for ${idleTimeoutMs / 1_000} s`);
  }

  #conclude(facts: CompletedFields, alignment: StreamAlignment): void {
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
        return this.#unusable('the stream has no audio');
      case 'error':
        return this.#failed(end);
      case 'unreadable':
        return this.#unusable(end.error.message, end.error);
    }
  }

  #failed({ code, message, requestId }: Extract<StreamEnd, { kind: 'error' }>) {
    const shownCode = code === '' ? 'an error without a code' : code;
    const errorText = message === undefined ? shownCode : `${shownCode}: ${message}`;
    const { isEmbedded } = this.#response.headers;
    return this.#client.redact(
      new Failure(`the service ended the audio stream with ${errorText}`, {
        code: code === '' ? 'bad_answer' : code,
        exit: streamErrorExit(code) ?? 'service',
        hint: isEmbedded
          ? 'The request was refunded.'
          : 'An aligned stream cannot be resumed. Check with `foley profile` whether it was charged before you run the command again.',
        requestId: requestId ?? this.requestId,
        billed: isEmbedded ? 'no' : 'unknown',
      }),
    );
  }

  #unusable(message: string, cause?: unknown): Failure {
    const failure = maybeBilled(badResponse(message, this.#response, cause));
    return reviseFailure(failure, {
      hint: 'If this error happens again, report the request id to the service.',
    });
  }
}
