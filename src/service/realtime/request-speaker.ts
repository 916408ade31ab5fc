import type { EndpointId } from '../../contract/endpoints.ts';
import type { AudioFolder } from '../audio-files/audio-folder.ts';
import type { ServiceContext } from '../service-context.ts';
import { price } from '../synthesis/plan.ts';
import type { SessionEvent } from './machine/events.ts';
import type { KnownSegment } from './machine/state.ts';
import type { RequestPlan } from './request-plan.ts';
import type { RequestRecord } from './requests/request-records.ts';
import { writeSegment } from './requests/request-records.ts';
import type { Requests } from './requests/requests.ts';
import { ReservedSegment } from './reserved-segment.ts';
import { speakSegment } from './speak-segment.ts';
import { digestOf } from './text-digest.ts';

export interface SpeakerContext extends Pick<
  ServiceContext,
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

/** The money and the speech of one request on one connection (spec sections 4.10 and 6.2; docs/billing.md). */
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
  reserve(segment: KnownSegment): SessionEvent {
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

  #begin(segment: KnownSegment, number: number) {
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
