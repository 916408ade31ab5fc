import type { EndpointId } from '../../contract/generated/endpoints.ts';
import type { Output } from '../../durable/output.ts';
import { engineMessageOf } from '../engine/speech-engine.ts';
import { amountsIn } from '../ledger/ledger.ts';
import type { Operation } from '../operations/operations.ts';
import type { SpeechContext } from '../speech/speak.ts';
import { speechFailureMessage } from '../service-error.ts';
import type { AudioFolder } from '../speech/audio-files.ts';
import { price } from '../speech/plan.ts';
import type { Connection } from '../store/connection.ts';
import { StoreError } from '../store/open-store.ts';
import type { Problem } from './client-message.ts';
import type { SessionEvent, CommittedSegment } from './machine/state.ts';
import type { RequestPlan } from './plan-request.ts';
import type { RequestRecord, Requests } from './requests.ts';
import {
  writeSegment,
  chargedCredits,
  completeSegment,
  keepUntil,
  segmentFile,
} from './requests.ts';
import { ProviderTimeout, segmentAudio, isUnspeakable, digestOf } from './segment-audio.ts';

export interface SpeakerContext extends Pick<
  SpeechContext,
  'clock' | 'encode' | 'operations' | 'report' | 'speechQueue' | 'store'
> {
  readonly requests: Requests;
  readonly folder: AudioFolder;
}

export interface RequestSpeakerOptions {
  readonly context: SpeakerContext;
  readonly plan: RequestPlan;
  readonly request: RequestRecord;
  readonly endpoint: EndpointId;
  /** Of the connection. */
  readonly traceId: string;
  readonly tell: (event: SessionEvent) => void;
  /** Resolves when more may be sent. */
  readonly room: () => Promise<void>;
}

/** The money and the speech of one request on one connection (docs/api/realtime.md; docs/billing.md). */
export class RequestSpeaker {
  readonly #options: RequestSpeakerOptions;
  readonly #reserved = new Map<string, ReservedSegment>();
  readonly #stop = new AbortController();
  #count: number;
  #hasAudio: boolean;
  #isCharged: boolean;

  constructor(options: RequestSpeakerOptions) {
    this.#options = options;
    const { segments } = options.request;
    this.#count = segments.length;
    this.#hasAudio = segments.some(({ audio }) => audio !== undefined && audio.bytes > 0);
    this.#isCharged = segments.some(({ isCharged }) => isCharged);
  }

  /** Sets aside what a segment costs; nothing where an earlier connection paid for it. */
  reserve(segment: CommittedSegment): SessionEvent {
    const { request } = this.#options;
    const { segmentId, characters } = segment;
    const earlier = request.segments.find((one) => one.segmentId === segmentId);
    const number = earlier?.number ?? this.#count + 1;
    if (earlier?.isCharged === true) {
      this.#reserved.set(segmentId, new ReservedSegment(segment, number, undefined));
      return { type: 'reserved', segmentId, units: 0 };
    }
    const begun = this.#begin(segment, number);
    if (begun.kind !== 'begun') return { type: 'notReserved', problem: TOO_LITTLE };
    this.#count = Math.max(this.#count, number);
    this.#reserved.set(segmentId, new ReservedSegment(segment, number, begun.operation));
    return { type: 'reserved', segmentId, units: characters };
  }

  /** Speaks a segment that was reserved; tells of its audio and of its end. */
  async speak(segmentId: string): Promise<void> {
    const reserved = this.#reserved.get(segmentId);
    if (reserved === undefined) throw new TypeError(`segment ${segmentId} was not reserved`);
    const { tell } = this.#options;
    const hasHead = !this.#hasAudio;
    const { signal } = this.#stop;
    const ended = await speakSegment({ options: this.#options, reserved, hasHead, signal });
    if (ended === undefined) return;
    this.#reserved.delete(segmentId);
    this.#isCharged ||= reserved.isCommitted;
    if (ended.type === 'spoken') this.#hasAudio = true;
    tell(ended);
  }

  /** Writes down that the request is done. */
  complete(): SessionEvent {
    const { context, request } = this.#options;
    if (context.requests.end(request, 'completed')) return { type: 'settled' };
    const problem = {
      code: 'billing_failed',
      message: 'The request was settled elsewhere',
    } as const;
    return { type: 'failed', problem };
  }

  /**
   * The connection ends before the request does: what is being spoken stops, what was not heard is given
   * back. A simple request of which nothing was heard can be made again as if it were new.
   */
  abandon(isForGood: boolean): void {
    const { context, request } = this.#options;
    this.#stop.abort(new Error('the connection has ended'));
    for (const reserved of this.#reserved.values()) {
      reserved.leave();
      this.#isCharged ||= reserved.isCommitted;
    }
    this.#reserved.clear();
    const isSimple = request.mode === 'simple';
    if (isSimple && !this.#isCharged) context.requests.forget(request);
    else if (isSimple || isForGood) context.requests.end(request, 'failed_terminal');
    else context.requests.end(request, 'failed_retryable');
  }

  #begin(segment: CommittedSegment, number: number) {
    const { context, request, plan, endpoint, traceId } = this.#options;
    const { segmentId, sequences, text, characters } = segment;
    const textDigest = digestOf(text);
    const paid = {
      accountId: request.accountId,
      endpoint,
      idempotencyKey: undefined,
      fingerprint: textDigest,
      requestId: traceId,
      charge: price(text, plan.model),
    };
    return context.operations.begin(paid, (db, operationId) =>
      writeSegment(db, request.id, {
        number,
        segmentId,
        sequences,
        textDigest,
        characters,
        operationId,
      }),
    );
  }
}

const TOO_LITTLE = {
  code: 'quota_exceeded',
  message: 'The account has too little left for this segment',
  stage: 'billing',
} as const;

/**
 * A segment that was accepted: what it costs is set aside, spent with its first audio, and settled once
 * (docs/billing.md). A segment whose charge of an earlier connection stands is spoken for nothing.
 */
class ReservedSegment {
  readonly segment: CommittedSegment;
  /** Its place in the request, from 1. */
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

  /** Whether the charge stands. */
  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  /** Spends it: audio goes out. @throws Error when another process gave it back */
  commit(): void {
    if (this.#isCommitted) return;
    if (this.#operation?.commit() === undefined) throw new SettledElsewhere();
    this.#isCommitted = true;
  }

  /** Ends it with the charge standing, and does `alongside` in the same transaction. */
  complete(
    write: (work: (db: Connection) => void) => void,
    alongside: (db: Connection) => void,
  ): void {
    this.#isSettled = true;
    if (this.#operation === undefined) return write(alongside);
    if (!this.#operation.complete(alongside)) throw new SettledElsewhere();
  }

  /** Ends it with the charge given back. */
  refund(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#operation === undefined) return;
    this.#isCommitted = false;
    this.#operation.refund();
  }

  /** Its listener has gone: what was heard of it stays charged. */
  leave(): void {
    if (this.#isSettled) return;
    if (!this.#isCommitted) return this.refund();
    this.#isSettled = true;
    this.#operation?.complete();
  }
}

/** Another process took this one for dead, and gave back what it had set aside. */
class SettledElsewhere extends Error {
  override readonly name = 'SettledElsewhere';

  constructor() {
    super('the segment was settled by another process');
  }
}

interface SegmentTask {
  readonly options: RequestSpeakerOptions;
  readonly reserved: ReservedSegment;
  /** No segment of the request had audio before. */
  readonly hasHead: boolean;
  readonly signal: AbortSignal;
}

/** How long stored audio is kept. */
const STORED_MS = 24 * 60 * 60 * 1_000;

/**
 * Speaks one segment: tells of its audio as fast as it is taken, stores it in reliable mode, and settles it.
 * Gives how it ended; undefined when its listener has gone.
 */
async function speakSegment(task: SegmentTask): Promise<SessionEvent | undefined> {
  const { options, reserved, signal } = task;
  const { segmentId } = reserved.segment;
  const output = await openStore(task);
  try {
    const { bytes, frames } = await sendAudio(task, output);
    await output?.publish();
    settle(task, { bytes, frames });
    return { type: 'spoken', segmentId, outcome: outcomeOf(task, bytes) };
  } catch (error) {
    await output?.abandon();
    if (signal.aborted) return undefined;
    if (isUnspeakable(error)) {
      settleWithoutAudio(task);
      return { type: 'unspeakable', segmentId };
    }
    options.context.report({ type: 'failure', requestId: options.traceId, error });
    reserved.refund();
    return { type: 'failed', problem: problemOf(error) };
  }
}

/** Only what can be asked for again is stored (docs/api/realtime.md). */
async function openStore({ options, reserved }: SegmentTask): Promise<Output | undefined> {
  const { request, context } = options;
  if (request.mode !== 'reliable') return undefined;
  return context.folder.create(request.id, segmentFile(reserved.number, request.format));
}

async function sendAudio(
  { options, reserved, hasHead, signal }: SegmentTask,
  output: Output | undefined,
): Promise<{ readonly bytes: number; readonly frames: number }> {
  const { context, plan, request, room, tell } = options;
  const { segmentId, text } = reserved.segment;
  const { encode, clock, speechQueue } = context;
  const { accountId: account } = request;
  const sound = {
    account,
    plan,
    text,
    number: reserved.number,
    encode,
    clock,
    speechQueue,
  };
  let [bytes, frames] = [0, 0];
  for await (const piece of segmentAudio({ ...sound, hasHead, signal })) {
    await room();
    signal.throwIfAborted();
    reserved.commit();
    await output?.write(piece);
    signal.throwIfAborted();
    tell({ type: 'audio', segmentId, bytes: piece });
    bytes += piece.length;
    frames += 1;
  }
  // A line that broke under the last of it did not take it.
  await room();
  signal.throwIfAborted();
  return { bytes, frames };
}

function settle(
  { options, reserved, signal }: SegmentTask,
  audio: { readonly bytes: number; readonly frames: number },
): void {
  signal.throwIfAborted();
  const { context, request } = options;
  const { segmentId } = reserved.segment;
  const { store, clock } = context;
  reserved.complete(
    (work) => store.write(work),
    (db) => {
      completeSegment(db, request.id, { segmentId, ...audio });
      if (request.mode === 'reliable') keepUntil(db, request.id, clock.now() + STORED_MS);
    },
  );
}

/** It is over, and costs nothing. */
function settleWithoutAudio({ options, reserved }: SegmentTask): void {
  const { context, request } = options;
  const { segmentId } = reserved.segment;
  context.store.write((db) => completeSegment(db, request.id, { segmentId, bytes: 0, frames: 0 }));
  reserved.refund();
}

function outcomeOf({ options, reserved }: SegmentTask, audioBytes: number) {
  const { context, request } = options;
  return context.store.read((db) => ({
    units: reserved.segment.characters,
    audioBytes,
    quotaRemaining: amountsIn(db, request.accountId, 'available').quota,
    creditsUsed: chargedCredits(db, request.id),
  }));
}

function problemOf(error: unknown): Problem {
  if (error instanceof SettledElsewhere || error instanceof StoreError) {
    return { code: 'billing_failed', message: 'The charge could not be settled', stage: 'billing' };
  }
  if (error instanceof ProviderTimeout) {
    return { code: 'provider_timeout', message: 'The engine took too long', stage: 'generation' };
  }
  const message = speechFailureMessage(engineMessageOf(error));
  return { code: 'generation_failed', message, stage: 'generation' };
}
