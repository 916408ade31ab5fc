import type { AudioAnswer, PcmLayout } from '../api/audio-response.ts';
import type { ApiClient } from '../api/client.ts';
import { reviseFailure } from '../api/failures.ts';
import { jsonBody } from '../api/request.ts';
import { fetchRealtimeSegment, getRealtimeRequest } from '../api/resources/realtime.ts';
import { badAnswer } from '../api/response.ts';
import { REALTIME_PROTOCOLS } from '../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../contract/realtime/protocols.ts';
import { Failure } from '../errors/failure.ts';
import type { FrameMessage } from '../realtime/frames.ts';
import { UnreadableFrame } from '../realtime/frames.ts';
import type { SpeechWay } from '../speech/speak.ts';
import { Conversation } from './conversation.ts';
import type { ConversationDeps, LiveNotice, Questions } from './conversation.ts';
import { lost } from './endings.ts';
import type { FeedOptions } from './feed-text.ts';
import { feedText } from './feed-text.ts';
import { readRequestFacts } from './server-message.ts';
import type { LivePlan } from './state.ts';

export interface LiveSpeech extends Omit<FeedOptions, 'clock'> {
  readonly plan: LivePlan;
  /** The text as it comes; `over` ends it when nobody listens any more. */
  readonly pieces: (over: AbortSignal) => AsyncIterable<string>;
  /** The flags with which the same is asked for again under its id. */
  readonly repeatWith: string;
  readonly signal: AbortSignal;
  /** Is told what the conversation tells. */
  readonly facts: LiveFacts;
}

/** Realtime speech as a way to speak (docs/api/realtime.md): the same output, journal and spool as every other. */
export function liveWay(client: ApiClient, speech: LiveSpeech, deps: ConversationDeps): SpeechWay {
  const { facts, plan } = speech;
  const { livePath: target } = REALTIME_PROTOCOLS[plan.protocol];
  const { mode, request, requestId } = plan;
  const onNotice: ConversationDeps['onNotice'] = (notice) => {
    facts.take(notice);
    deps.onNotice(notice);
  };
  const conversation = new Conversation(plan, { ...deps, onNotice });
  return {
    request: {
      method: 'GET',
      target,
      host: 'realtime',
      body: jsonBody({ event: 'start', mode, requestId, request }),
      billed: true,
      retry: 'never',
    },
    repeatWith: speech.repeatWith,
    goesOn: mode === 'reliable' && plan.protocol === 'v3',
    ask: () => ask(client, conversation, speech, deps),
  };
}

/** Resolves with the first audio; before it nothing can have been charged. */
async function ask(
  client: ApiClient,
  conversation: Conversation,
  speech: LiveSpeech,
  { clock }: Pick<ConversationDeps, 'clock'>,
): Promise<LiveAnswer> {
  const { facts, pieces, signal } = speech;
  const over = new AbortController();
  const stop = (): void => conversation.stop(asError(signal.reason));
  signal.addEventListener('abort', stop, { once: true });
  const leave = (): void => {
    signal.removeEventListener('abort', stop);
    over.abort();
    conversation.stop(new Error('nobody listens any more'));
  };
  if (signal.aborted) stop();
  conversation.begin();
  feedText(pieces(over.signal), conversation, { ...speech, clock }).catch((error: unknown) => {
    if (!over.signal.aborted) conversation.stop(withCost(asError(error), conversation));
  });
  const audio = conversation.audio[Symbol.asyncIterator]();
  try {
    const first = await audio.next();
    if (first.done === true) throw noAudio(conversation.requestId);
    const body = told(client, follow(first.value, audio), leave);
    return new LiveAnswer(facts, {
      body,
      discard: leave,
      requestId: conversation.requestId,
      maxBytes: client.maxBytes,
    });
  } catch (error) {
    leave();
    throw error instanceof Failure ? client.redact(error) : error;
  }
}

async function* follow(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield first;
  yield* rest;
}

/** The same bytes, without secrets in what goes wrong; whoever leaves them ends the conversation. */
async function* told(
  client: ApiClient,
  audio: AsyncIterable<Uint8Array>,
  leave: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* audio;
  } catch (error) {
    throw error instanceof Failure ? client.redact(error) : error;
  } finally {
    leave();
  }
}

function noAudio(requestId: string): Failure {
  const failure = badAnswer('the service says that all was spoken, and no audio came', {
    requestId,
  });
  return reviseFailure(failure, { billed: 'unknown', hint: undefined });
}

/** Text that cannot be read is a mistake that may have cost something already. */
function withCost(error: Error, { billed }: Conversation): Error {
  return error instanceof Failure ? reviseFailure(error, { billed }) : error;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** What a conversation told on the way of itself, and of what it cost. */
export class LiveFacts {
  pcm: PcmLayout | undefined;
  quotaRemaining: number | undefined;
  ready: FrameMessage | undefined;
  /** Segments that were wholly spoken; 0 in simple mode, which has none. */
  segments = 0;
  /** In units, which are no credits: a service may price a unit as it likes. */
  readonly #units = new SessionSum();
  readonly #credits = new SessionSum();

  /** Credits that were charged; undefined where the service does not report them. */
  get creditsUsed(): number | undefined {
    return this.#credits.sum;
  }

  /** Billable units, as far as the service reports them. */
  get units(): number | undefined {
    return this.#units.sum;
  }

  take(notice: LiveNotice): void {
    if (notice.type !== 'notice') return;
    const { message } = notice;
    switch (message.event) {
      case 'ready':
        this.ready = message.fields;
        this.pcm = pcmLayout(message.fields);
        break;
      case 'usage':
        this.quotaRemaining = message.quotaRemaining ?? this.quotaRemaining;
        this.#units.note(message.sessionUnits);
        this.#credits.note(message.creditsUsed);
        break;
      case 'segment_completed':
        this.segments += 1;
        break;
      case 'finish':
        this.#units.note(message.units);
        if (message.reason !== 'completed') break;
        this.#units.beginSession();
        this.#credits.beginSession();
        break;
      case 'warning':
        break;
    }
  }
}

/** The sum of what grows within each session, and begins anew with the next one. */
class SessionSum {
  #before: number | undefined;
  #session: number | undefined;

  /** Undefined as long as nothing was reported. */
  get sum(): number | undefined {
    return this.#before === undefined ? this.#session : this.#before + (this.#session ?? 0);
  }

  /** Takes what the service reports for the session so far; late or repeated reports change nothing. */
  note(reported: number | undefined): void {
    if (reported !== undefined) this.#session = Math.max(this.#session ?? 0, reported);
  }

  beginSession(): void {
    this.#before = this.sum;
    this.#session = undefined;
  }
}

function pcmLayout({ bitDepth, channels, sampleRate }: FrameMessage): PcmLayout | undefined {
  if (typeof sampleRate !== 'number' || bitDepth !== 16) return undefined;
  return { sampleRate, channels: typeof channels === 'number' ? channels : 1, bitDepth };
}

/** A conversation that has begun to speak, as an answer over HTTP would be. */
export class LiveAnswer implements AudioAnswer {
  readonly contentType = 'audio/live';
  readonly contentLength = undefined;
  /** Its end is proven by a message of its own. */
  readonly framing = 'chunked';
  readonly ignoredParameters: readonly string[] = [];
  readonly body: AsyncIterable<Uint8Array>;
  readonly discard: () => void;
  readonly requestId: string;
  readonly maxBytes: number | undefined;
  readonly #facts: LiveFacts;

  constructor(
    facts: LiveFacts,
    {
      body,
      discard,
      maxBytes,
      requestId,
    }: Pick<AudioAnswer, 'body' | 'discard' | 'maxBytes' | 'requestId'>,
  ) {
    this.#facts = facts;
    this.body = body;
    this.discard = discard;
    this.requestId = requestId;
    this.maxBytes = maxBytes;
  }

  get pcm(): PcmLayout | undefined {
    return this.#facts.pcm;
  }

  get creditsUsed(): number | undefined {
    return this.#facts.creditsUsed;
  }

  get quotaRemaining(): number | undefined {
    return this.#facts.quotaRemaining;
  }
}

/** The longest segment is some minutes of speech; this is an hour of samples. */
const SEGMENT_MAX_BYTES = 256 * 1024 * 1024;

/** What is asked over HTTP after a line broke (docs/api/realtime.md). */
export function httpQuestions(client: ApiClient, protocol: RealtimeProtocol): Questions {
  return {
    async status(requestId, signal) {
      const answer = await getRealtimeRequest(client, protocol, requestId, signal).catch(
        (error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        },
      );
      if (answer === undefined) return undefined;
      try {
        return readRequestFacts(answer.value);
      } catch (error) {
        if (!(error instanceof UnreadableFrame)) throw error;
        throw badAnswer(`the state of the request cannot be read: ${error.message}`, answer);
      }
    },
    async segment(requestId, segmentId, signal) {
      const { body } = await fetchRealtimeSegment(client, requestId, segmentId, signal).catch(
        (error: unknown) => {
          throw isNotFound(error) ? gone(error, segmentId) : error;
        },
      );
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const part of body) {
        size += part.length;
        if (size > SEGMENT_MAX_BYTES) {
          throw badAnswer(`the stored ${segmentId} is larger than can be right`, { requestId });
        }
        parts.push(part);
      }
      return Buffer.concat(parts, size);
    },
  };
}

function isNotFound(error: unknown): error is Failure {
  return error instanceof Failure && error.status === 404;
}

/** It was completed, so that it is paid for. */
function gone(failure: Failure, segmentId: string): Failure {
  const { code, exit, message, billed } = lost([segmentId]);
  const details = { segments: [segmentId] };
  return reviseFailure(failure, { billed, code, details, exit, hint: undefined, message });
}
