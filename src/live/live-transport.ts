import type { AudioResponse } from '../api/resources/speech.ts';
import type { ApiClient } from '../api/client.ts';
import { reviseFailure } from '../api/failures.ts';
import { jsonBody } from '../api/request.ts';
import { fetchRealtimeSegment, getRealtimeRequest } from '../api/resources/realtime.ts';
import { getVoice } from '../api/resources/voices.ts';
import { badResponse, readBytes } from '../api/response.ts';
import type { PcmLayout } from '../audio/wav.ts';
import { FAMILIES, LOCAL_MODEL_PREFIX } from '../contract/families.ts';
import { REALTIME_PROTOCOLS } from '../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../contract/realtime/protocols.ts';
import { Failure } from '../errors/failure.ts';
import type { FrameMessage } from '../realtime/frames.ts';
import { UnreadableFrame } from '../realtime/frames.ts';
import type { SpeechTransport } from '../paid/speakers/speak-stream.ts';
import { Conversation } from './conversation.ts';
import type { ConversationDeps, LiveNotice, ResumeRequests } from './conversation.ts';
import { lost } from './endings.ts';
import type { SegmentOptions } from './feed-text.ts';
import { feedText } from './feed-text.ts';
import { readRequestStatus } from './server-message.ts';
import type { ReceivedFrame } from './server-message.ts';
import type { LivePlan } from './state.ts';

export interface LiveConversation extends SegmentOptions {
  readonly plan: LivePlan;
  /** Yields the text as it arrives. The signal is aborted when the conversation ends. */
  readonly pieces: (signal: AbortSignal) => AsyncIterable<string>;
  /**
   * Flags with which the user can repeat the command to resume this request, such as `--request-id ID`. A hint shows
   * them.
   */
  readonly repeatWith: string;
  readonly signal: AbortSignal;
  readonly metadata: LiveMetadata;
}

/** Creates a transport that speaks a text over a WebSocket, in a realtime conversation (docs/api/realtime.md). */
export function liveTransport(
  client: ApiClient,
  speech: LiveConversation,
  deps: ConversationDeps,
): SpeechTransport {
  const { metadata, plan } = speech;
  const { mode, protocol, request, requestId } = plan;
  const conversation = new Conversation(plan, {
    ...deps,
    onNotice(notice) {
      metadata.add(notice);
      deps.onNotice(notice);
    },
  });
  return {
    request: {
      method: 'GET',
      target: REALTIME_PROTOCOLS[protocol].livePath,
      host: 'realtime',
      body: jsonBody({ event: 'start', mode, requestId, request }),
      billed: true,
      retry: 'never',
    },
    repeatWith: speech.repeatWith,
    isResumable: mode === 'reliable' && protocol === 'v3',
    send: () => startSpeech(client, conversation, speech, deps),
  };
}

async function startSpeech(
  client: ApiClient,
  conversation: Conversation,
  speech: LiveConversation,
  { clock }: ConversationDeps,
): Promise<AudioResponse> {
  const { metadata, pieces, signal } = speech;
  const over = new AbortController();
  const stop = (): void => conversation.stop(asError(signal.reason));
  signal.addEventListener('abort', stop, { once: true });
  const discard = (): void => {
    signal.removeEventListener('abort', stop);
    over.abort();
    conversation.stop(new Error('the audio was discarded'));
  };
  if (signal.aborted) stop();
  conversation.begin();
  feedText(pieces(over.signal), conversation, { ...speech, clock }).catch((reason: unknown) => {
    if (over.signal.aborted) return;
    const error = asError(reason);
    // Text that was sent earlier may have been billed.
    const { billed } = conversation;
    conversation.stop(error instanceof Failure ? reviseFailure(error, { billed }) : error);
  });
  const audio = conversation.audio[Symbol.asyncIterator]();
  const redact = (error: unknown): unknown =>
    error instanceof Failure ? client.redact(error) : error;
  try {
    const first = await audio.next();
    if (first.done === true) throw noAudio(conversation.requestId);
    const chunk = first.value;
    return {
      contentType: 'audio/live',
      contentLength: undefined,
      // A final message proves that the stream is complete, like the last chunk in chunked framing.
      framing: 'chunked',
      ignoredParameters: [],
      body: (async function* () {
        try {
          yield chunk;
          yield* audio;
        } catch (error) {
          throw redact(error);
        } finally {
          discard();
        }
      })(),
      discard,
      requestId: conversation.requestId,
      maxBytes: client.maxBytes,
      get pcm() {
        return metadata.pcm;
      },
      get creditsUsed() {
        return metadata.creditsUsed;
      },
      get quotaRemaining() {
        return metadata.quotaRemaining;
      },
    };
  } catch (error) {
    discard();
    throw redact(error);
  }
}

function noAudio(requestId: string): Failure {
  const failure = badResponse('the service completed the request without audio', { requestId });
  return reviseFailure(failure, { billed: 'unknown', hint: undefined });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

type LiveUnspoken = NonNullable<Extract<ReceivedFrame, { event: 'warning' }>['unspoken']>;

/** Collects metadata that the service reports during a conversation: PCM layout, cost and segments. */
export class LiveMetadata {
  pcm: PcmLayout | undefined;
  quotaRemaining: number | undefined;
  /** Number of completed segments; 0 in `simple` mode. */
  segments = 0;
  readonly #unspoken = new Map<string | undefined, LiveUnspoken>();
  readonly #units = new SessionSum();
  readonly #credits = new SessionSum();

  /** Credits charged so far; undefined if the service does not report them. */
  get creditsUsed(): number | undefined {
    return this.#credits.sum;
  }

  /** Units billed so far; undefined if the service does not report them. */
  get units(): number | undefined {
    return this.#units.sum;
  }

  /** Words that the voice did not speak, with their positions in the segment. */
  get unspoken() {
    return [...this.#unspoken].flatMap(([segmentId = null, words]) =>
      words.map((word) => ({ segmentId, ...word })),
    );
  }

  add(notice: LiveNotice): void {
    if (notice.type !== 'notice') return;
    const { message } = notice;
    switch (message.event) {
      case 'ready':
        this.pcm = pcmLayout(message.fields);
        break;
      case 'usage':
        this.quotaRemaining = message.quotaRemaining ?? this.quotaRemaining;
        this.#units.update(message.sessionUnits);
        this.#credits.update(message.creditsUsed);
        break;
      case 'segment_completed':
        this.segments += 1;
        break;
      case 'finish':
        this.#units.update(message.units);
        if (message.reason !== 'completed') break;
        this.#units.beginSession();
        this.#credits.beginSession();
        break;
      case 'warning':
        // Empty for a segment that the client did not send.
        if ((message.unspoken ?? []).length > 0) {
          this.#unspoken.set(message.segmentId, message.unspoken ?? []);
        }
        break;
    }
  }
}

// The service reports the total of each session, which grows from 0.
class SessionSum {
  #earlier: number | undefined;
  #session: number | undefined;

  get sum(): number | undefined {
    return this.#earlier === undefined ? this.#session : this.#earlier + (this.#session ?? 0);
  }

  // Ignores values that are lower than the last one.
  update(value: number | undefined): void {
    if (value !== undefined) this.#session = Math.max(this.#session ?? 0, value);
  }

  beginSession(): void {
    this.#earlier = this.sum;
    this.#session = undefined;
  }
}

function pcmLayout({ bitDepth, channels, sampleRate }: FrameMessage): PcmLayout | undefined {
  if (typeof sampleRate !== 'number' || bitDepth !== 16) return undefined;
  return { sampleRate, channels: typeof channels === 'number' ? channels : 1, bitDepth };
}

// About an hour of uncompressed audio.
const SEGMENT_MAX_BYTES = 256 * 1024 * 1024;

/** Returns the functions that send HTTP requests to resume a conversation: get its status, download a segment. */
export function httpRequests(client: ApiClient, protocol: RealtimeProtocol): ResumeRequests {
  return {
    async getStatus(requestId, signal) {
      try {
        const response = await getRealtimeRequest(client, protocol, requestId, signal);
        try {
          return readRequestStatus(response.value);
        } catch (error) {
          if (!(error instanceof UnreadableFrame)) throw error;
          throw badResponse(`the status of the request is invalid: ${error.message}`, response);
        }
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async fetchSegment(requestId, segmentId, signal) {
      const response = await fetchRealtimeSegment(client, requestId, segmentId, signal).catch(
        (error: unknown) => {
          throw isNotFound(error) ? segmentLost(error, segmentId) : error;
        },
      );
      return readBytes(response, SEGMENT_MAX_BYTES);
    },
  };
}

function isNotFound(error: unknown): error is Failure {
  return error instanceof Failure && error.status === 404;
}

function segmentLost(failure: Failure, segmentId: string): Failure {
  const { code, exit, message, billed } = lost([segmentId]);
  const details = { segments: [segmentId] };
  return reviseFailure(failure, { billed, code, details, exit, hint: undefined, message });
}

const FALLBACK_MODEL = 'vendor-s21pro-flash';

/**
 * Returns the id of the model that is used for a voice if the user names no model: the default model of the voice's
 * model family. A voice without a known family gets its first model that belongs to an added engine. If the voice has
 * no such model either, returns a fixed model.
 */
export async function defaultLiveModel(
  client: ApiClient,
  voiceId: string,
  signal: AbortSignal,
): Promise<string> {
  const modelIds = await getVoice(client, voiceId, signal).then(
    ({ value }) => value.modelIds,
    (error: unknown): readonly string[] => {
      if (error instanceof Failure && error.exit === 'rejected') return [];
      throw error;
    },
  );
  const family = FAMILIES.find(({ models }) => models.some((model) => modelIds.includes(model)));
  const local = modelIds.find((id) => id.startsWith(LOCAL_MODEL_PREFIX));
  return family?.defaultModel ?? local ?? FALLBACK_MODEL;
}
