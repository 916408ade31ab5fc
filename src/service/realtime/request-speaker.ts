import type { EndpointId } from '../../contract/generated/endpoints.ts';
import type { RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import { formatRanges } from '../../contract/unspoken.ts';
import type { Output } from '../../durable/output.ts';
import type { Random } from '../../system/random.ts';
import { PCM_SAMPLE_RATE } from '../../audio/encode/pcm.ts';
import { engineMessageOf } from '../engine/speech-engine.ts';
import { amountsIn } from '../ledger/ledger.ts';
import { fingerprintOf } from '../operations/operations.ts';
import type { Operation } from '../operations/operations.ts';
import { speechFailureMessage, storageFullError } from '../service-error.ts';
import type { AudioFolder } from '../speech/audio-files.ts';
import { price } from '../speech/plan-speech.ts';
import type { SpeechContext } from '../speech/speak.ts';
import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { StoreError } from '../store/open-store.ts';
import { pronouncedIn, withoutPronounced } from '../speech/pronunciations.ts';
import type { Problem, StartMessage } from './client-message.ts';
import type { CommittedSegment, SessionEvent, StartedRequest } from './machine/state.ts';
import type { RequestPlan } from './plan-request.ts';
import { planRequest, RequestProblem } from './plan-request.ts';
import type { RequestRecord, Requests, SegmentSize } from './requests.ts';
import {
  chargedCredits,
  completeSegment,
  earlierSegments,
  segmentFile,
  NO_AUDIO,
  setStoredUntil,
  statusOf,
  writeSegment,
} from './requests.ts';
import { ProviderTimeout, segmentAudio, isUnspeakable, digestOf } from './segment-audio.ts';
import type { Tickets } from './tickets.ts';

export interface SessionContext {
  readonly speech: SpeechContext;
  readonly requests: Requests;
  readonly audio: AudioFolder;
  readonly random: Random;
  readonly tickets: Tickets;
}

interface RequestConnection {
  readonly context: SessionContext;
  readonly protocol: RealtimeProtocol;
  readonly account: string;
  readonly traceId: string;
  readonly dispatch: (event: SessionEvent) => void;
  /** Resolves when the socket can accept more audio. */
  readonly drain: () => Promise<void>;
}

/**
 * Starts or resumes a realtime request and returns the resulting event. If the request exists and cannot be resumed,
 * the event contains the status of the request (docs/api/realtime.md#request-states).
 */
export function startRequest(
  start: StartMessage,
  connection: RequestConnection,
): { readonly event: SessionEvent; readonly speaker?: RequestSpeaker } {
  const { context, protocol, account } = connection;
  try {
    const catalogue = context.speech.catalogue.of(account);
    const plan = planRequest(start.request, { protocol, catalogue });
    const result = context.requests.start({
      accountId: account,
      requestId: start.requestId ?? context.random.uuid(),
      mode: start.mode,
      fingerprint: fingerprintOf(plan.effectiveRequest),
      format: plan.format,
      retryFailed: start.retryFailed,
    });
    if (result.kind === 'conflict') {
      const message = 'This request id was used for another request; use a new one';
      return { event: { type: 'notStarted', problem: { code: 'idempotency_conflict', message } } };
    }
    const { request } = result;
    if (result.kind === 'known') {
      return { event: { type: 'known', status: statusOf(request, context.speech.clock.now()) } };
    }
    return {
      event: { type: 'started', request: describe(request, plan) },
      speaker: new RequestSpeaker(connection, plan, request),
    };
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    return { event: { type: 'notStarted', problem: error.problem } };
  }
}

function describe(request: RequestRecord, plan: RequestPlan): StartedRequest {
  const { requestId, mode, format } = request;
  const done = request.segments.flatMap(({ audio, characters }) =>
    audio === undefined || audio.bytes === 0 ? [] : [{ ...audio, characters }],
  );
  return {
    requestId,
    mode,
    modelId: plan.model.id,
    voiceId: plan.voice.id,
    audioFormat: {
      format,
      ...(format === 'pcm' ? { sampleRate: PCM_SAMPLE_RATE, channels: 1, bitDepth: 16 } : {}),
    },
    ready: plan.ready,
    warnings: plan.warnings,
    segmentMaxCharacters: plan.model.maxTextLength,
    earlier: earlierSegments(request),
    units: done.reduce((sum, { characters }) => sum + characters, 0),
    nextAudio: 1 + done.reduce((sum, { frames }) => sum + frames, 0),
  };
}

const AUDIO_LIFETIME_MS = 24 * 60 * 60 * 1_000;

/** Reserves, speaks and bills the segments of a request on one connection (docs/billing.md). */
export class RequestSpeaker {
  readonly #connection: RequestConnection;
  readonly #plan: RequestPlan;
  readonly #request: RequestRecord;
  readonly #reserved = new Map<string, ReservedSegment>();
  readonly #abort = new AbortController();
  #count: number;
  #hasAudio: boolean;
  #isCharged: boolean;

  constructor(connection: RequestConnection, plan: RequestPlan, request: RequestRecord) {
    this.#connection = connection;
    this.#plan = plan;
    this.#request = request;
    const { segments } = request;
    this.#count = segments.length;
    this.#hasAudio = segments.some(({ audio }) => audio !== undefined && audio.bytes > 0);
    this.#isCharged = segments.some(({ isCharged }) => isCharged);
  }

  /** Reserves the credits of a segment. Does nothing if the segment was charged on an earlier connection. */
  reserve(segment: CommittedSegment): SessionEvent {
    const { account, context, protocol, traceId } = this.#connection;
    const { segmentId, sequences, text, characters } = segment;
    const earlier = this.#request.segments.find((one) => one.segmentId === segmentId);
    const number = earlier?.number ?? this.#count + 1;
    if (earlier?.isCharged === true) {
      this.#reserved.set(segmentId, new ReservedSegment(segment, number, undefined));
      return { type: 'reserved', segmentId, units: 0 };
    }
    const textDigest = digestOf(text);
    const endpoint: EndpointId = protocol === 'v2' ? 'openRealtimeV2' : 'openRealtimeV3';
    const begun = context.speech.operations.begin(
      {
        accountId: account,
        endpoint,
        idempotencyKey: undefined,
        fingerprint: textDigest,
        requestId: traceId,
        charge: price(text, this.#plan.model),
      },
      (db, operationId) => {
        const record = { number, segmentId, sequences, textDigest, characters, operationId };
        writeSegment(db, this.#request.id, record);
      },
    );
    if (begun.kind !== 'begun') {
      const message = 'The account has too few credits for this segment';
      const problem = { code: 'quota_exceeded', message, stage: 'billing' } as const;
      return { type: 'notReserved', problem };
    }
    this.#count = Math.max(this.#count, number);
    this.#reserved.set(segmentId, new ReservedSegment(segment, number, begun.operation));
    return { type: 'reserved', segmentId, units: characters };
  }

  /**
   * Speaks a reserved segment and bills it. If speech fails, refunds the credits. In `reliable` mode, also stores the
   * audio.
   */
  async speak(segmentId: string): Promise<void> {
    const reserved = this.#reserved.get(segmentId);
    if (reserved === undefined) throw new TypeError(`segment ${segmentId} was not reserved`);
    const end = await this.#speak(reserved);
    if (end === undefined) return;
    this.#reserved.delete(segmentId);
    this.#isCharged ||= reserved.isCommitted;
    if (end.type === 'spoken') this.#hasAudio = true;
    this.#connection.dispatch(end);
  }

  complete(): SessionEvent {
    if (this.#connection.context.requests.end(this.#request, 'completed')) {
      return { type: 'settled' };
    }
    const message = 'Another process ended the request';
    return { type: 'failed', problem: { code: 'billing_failed', message } };
  }

  /**
   * Aborts the request and refunds undelivered segments. In `simple` mode, deletes the request if nothing was charged,
   * so that the client can use the request id again.
   */
  abandon(isFinal: boolean): void {
    const { requests } = this.#connection.context;
    this.#abort.abort(new Error('the connection has ended'));
    try {
      for (const reserved of this.#reserved.values()) {
        reserved.abandon();
        this.#isCharged ||= reserved.isCommitted;
      }
    } finally {
      // Also if the database cannot be written: the request must not stay `running`.
      this.#reserved.clear();
      const isSimple = this.#request.mode === 'simple';
      if (isSimple && !this.#isCharged) requests.delete(this.#request);
      else
        requests.end(this.#request, isSimple || isFinal ? 'failed_terminal' : 'failed_retryable');
    }
  }

  // `undefined` after an abort.
  async #speak(reserved: ReservedSegment): Promise<SessionEvent | undefined> {
    const { context, traceId } = this.#connection;
    const { id, format, mode } = this.#request;
    const { segmentId } = reserved.segment;
    const output =
      mode === 'reliable'
        ? await context.audio.create(id, segmentFile(reserved.number, format))
        : undefined;
    try {
      const audio = await this.#sendAudio(reserved, output);
      await output?.publish();
      this.#abort.signal.throwIfAborted();
      this.#settle(reserved, audio);
      const outcome = this.#outcomeOf(reserved, audio.bytes);
      return { type: 'spoken', segmentId, outcome, unspoken: this.#unspokenIn(reserved) };
    } catch (error) {
      await output?.abandon();
      if (this.#abort.signal.aborted) return undefined;
      if (isUnspeakable(error)) {
        context.speech.store.write((db) => completeSegment(db, id, segmentId, NO_AUDIO));
        reserved.refund();
        return { type: 'unspeakable', segmentId, unspoken: this.#unspokenIn(reserved) };
      }
      context.speech.report({ type: 'failure', requestId: traceId, error });
      try {
        reserved.refund();
      } catch {
        // The next write refunds the segment. The first error is the one to report.
      }
      return { type: 'failed', problem: problemOf(error) };
    }
  }

  async #sendAudio(reserved: ReservedSegment, output: Output | undefined): Promise<SegmentSize> {
    const { account, context, dispatch, drain } = this.#connection;
    const { signal } = this.#abort;
    const { segmentId, text } = reserved.segment;
    const audio = segmentAudio({
      account,
      plan: this.#plan,
      text,
      number: reserved.number,
      hasHeader: !this.#hasAudio,
      context: context.speech,
      signal,
    });
    let [bytes, frames] = [0, 0];
    for await (const piece of audio) {
      await drain();
      signal.throwIfAborted();
      reserved.commit();
      await output?.write(piece);
      signal.throwIfAborted();
      dispatch({ type: 'audio', segmentId, bytes: piece });
      bytes += piece.length;
      frames += 1;
    }
    // The last frame was not sent if the connection dropped meanwhile.
    await drain();
    signal.throwIfAborted();
    return { bytes, frames };
  }

  #settle(reserved: ReservedSegment, size: SegmentSize): void {
    const { store, clock } = this.#connection.context.speech;
    const { id, mode } = this.#request;
    reserved.complete(store, (db) => {
      completeSegment(db, id, reserved.segment.segmentId, size);
      if (mode === 'reliable') setStoredUntil(db, id, clock.now() + AUDIO_LIFETIME_MS);
    });
  }

  #unspokenIn({ segment: { text } }: ReservedSegment): string | undefined {
    const { pronunciations, settings, voice } = this.#plan;
    const letters =
      voice.speaker.unspoken?.({ text, voice: voice.engine.voice, ...settings }) ?? [];
    const ranges = withoutPronounced(letters, pronouncedIn(text, pronunciations));
    return ranges.length === 0 ? undefined : formatRanges(ranges);
  }

  #outcomeOf({ segment }: ReservedSegment, audioBytes: number) {
    const { account, context } = this.#connection;
    return context.speech.store.read((db) => ({
      units: segment.characters,
      audioBytes,
      quotaRemaining: amountsIn(db, account, 'available').quota,
      creditsUsed: chargedCredits(db, this.#request.id),
    }));
  }
}

// The charge is committed with the first audio and settled once (docs/billing.md). Without `operation`, an earlier
// connection has billed the segment.
class ReservedSegment {
  readonly segment: CommittedSegment;
  /** Number of the segment in the request, from 1. */
  readonly number: number;
  readonly #operation: Operation | undefined;
  #isCommitted: boolean;
  #isSettled = false;

  constructor(segment: CommittedSegment, number: number, operation: Operation | undefined) {
    this.segment = segment;
    this.number = number;
    this.#operation = operation;
    this.#isCommitted = operation === undefined;
  }

  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  commit(): void {
    if (this.#isCommitted) return;
    if (this.#operation?.commit() === undefined) throw new RefundedElsewhere();
    this.#isCommitted = true;
  }

  complete(store: Store, alongside: (db: Connection) => void): void {
    this.#isSettled = true;
    if (this.#operation === undefined) return store.write(alongside);
    if (!this.#operation.complete(alongside)) throw new RefundedElsewhere();
  }

  refund(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#operation === undefined) return;
    this.#isCommitted = false;
    this.#operation.refund();
  }

  abandon(): void {
    if (this.#isSettled) return;
    if (!this.#isCommitted) return this.refund();
    this.#isSettled = true;
    this.#operation?.complete();
  }
}

// Another process took this one for dead and refunded the segment.
class RefundedElsewhere extends Error {
  override readonly name = 'RefundedElsewhere';

  constructor() {
    super('another process settled the segment');
  }
}

/** Returns the problem to report if `error` was caused by a full disk or disk quota; otherwise `undefined`. */
export function storageProblem(error: unknown): Problem | undefined {
  if (storageFullError(error) === undefined) return undefined;
  const message =
    'The disk of the service is full; this text was not charged. Make room in its data folder';
  return { code: 'billing_failed', message, stage: 'storage' };
}

function problemOf(error: unknown): Problem {
  const full = storageProblem(error);
  if (full !== undefined) return full;
  if (error instanceof RefundedElsewhere || error instanceof StoreError) {
    return {
      code: 'billing_failed',
      message: 'The charge could not be recorded',
      stage: 'billing',
    };
  }
  if (error instanceof ProviderTimeout) {
    return {
      code: 'provider_timeout',
      message: 'The speech engine took too long',
      stage: 'generation',
    };
  }
  const message = speechFailureMessage(engineMessageOf(error));
  return { code: 'generation_failed', message, stage: 'generation' };
}
