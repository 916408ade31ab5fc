import type {
  AlignedCompleted,
  AlignedError,
  AlignmentStatus,
} from '../../../contract/schemas/aligned.ts';
import type { ServiceErrorCode } from '../../../contract/service-errors.ts';
import type { Clock } from '../../../effects/clock.ts';
import { engineMessageOf } from '../../engine/speech-engine.ts';
import type { Operation } from '../../operations/operation.ts';
import type { RunningGeneration } from '../generations.ts';
import { speechFailureMessage } from '../../service-error.ts';
import { createSettlement, type Settlement } from '../settlement.ts';
import type { SpokenEvent } from './aligned-events.ts';
import { HEARTBEAT, serverSentEvent } from './server-sent-event.ts';

/** Events of which the first audio exists. */
export interface StartedEvents {
  readonly head: readonly SpokenEvent[];
  readonly rest: AsyncIterator<SpokenEvent, AlignmentStatus>;
}

export interface AlignedBodyOptions {
  readonly events: StartedEvents;
  readonly generation: RunningGeneration;
  readonly operation: Operation;
  readonly clock: Clock;
  readonly requestId: string;
  /** What `completed` tells besides. */
  readonly bill: Pick<AlignedCompleted, 'quotaRemaining' | 'creditsUsed'>;
  readonly onFailure: (error: unknown) => void;
}

/** A stream without a byte for longer than this tells that it lives. */
const HEARTBEAT_MS = 10_000;

/**
 * The body of an aligned stream, made as fast as it is read (spec section 6.1). `completed` is told
 * when the charge stands for good; what fails after the beginning is refunded, and told with `error`.
 */
export function alignedBody(options: AlignedBodyOptions): ReadableStream<Uint8Array> {
  return new ReadableStream(new AlignedSource(options), { highWaterMark: 0 });
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

class AlignedSource {
  readonly #options: AlignedBodyOptions;
  readonly #settlement: Settlement;
  readonly #source: BeatingEvents;
  #isOver = false;

  constructor(options: AlignedBodyOptions) {
    this.#options = options;
    this.#settlement = createSettlement({ ...options, source: options.events.rest });
    this.#source = new BeatingEvents(options.events, options.clock);
  }

  start(controller: Controller): void {
    const { signal } = this.#options.generation;
    const abort = (): void => this.#breakOff(controller, signal.reason, 'ERR_SERVICE_UNAVAILABLE');
    signal.addEventListener('abort', abort, { once: true });
  }

  async pull(controller: Controller): Promise<void> {
    try {
      const next = await this.#source.next();
      if (this.#isOver) return;
      if (next === 'heartbeat') controller.enqueue(HEARTBEAT);
      else if (next.done === true) this.#end(controller, next.value);
      else controller.enqueue(bytesOf(next.value));
    } catch (error) {
      this.#breakOff(controller, error, 'ERR_GENERATION_FAILED');
    }
  }

  cancel(reason: unknown): void {
    this.#isOver = true;
    this.#settlement.leave(reason);
  }

  #end(controller: Controller, alignmentStatus: AlignmentStatus): void {
    const { bill, operation, requestId } = this.#options;
    if (!this.#settlement.complete()) throw new Error('the answer could not be settled');
    this.#isOver = true;
    const generationId = operation.id;
    const data: AlignedCompleted = { requestId, generationId, alignmentStatus, ...bill };
    controller.enqueue(serverSentEvent('completed', data));
    controller.close();
  }

  #breakOff(controller: Controller, error: unknown, code: ServiceErrorCode): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settlement.fail(error);
    const isClosing = code === 'ERR_SERVICE_UNAVAILABLE';
    const message = isClosing
      ? 'The service is closing'
      : speechFailureMessage(engineMessageOf(error));
    const data: AlignedError = { requestId: this.#options.requestId, code, message };
    controller.enqueue(serverSentEvent('error', data));
    controller.close();
  }
}

function bytesOf(event: SpokenEvent): Uint8Array {
  if (event.name !== 'audio') return serverSentEvent(event.name, event.data);
  return serverSentEvent('audio', { audioBase64: Buffer.from(event.bytes).toString('base64') });
}

type Next = IteratorResult<SpokenEvent, AlignmentStatus>;

/** Events, and a heartbeat whenever the next one lets wait for itself. */
class BeatingEvents {
  readonly #head: SpokenEvent[];
  readonly #rest: StartedEvents['rest'];
  readonly #clock: Clock;
  #pending: Promise<Next> | undefined;

  constructor({ head, rest }: StartedEvents, clock: Clock) {
    this.#head = [...head];
    this.#rest = rest;
    this.#clock = clock;
  }

  async next(): Promise<Next | 'heartbeat'> {
    const first = this.#head.shift();
    if (first !== undefined) return { value: first, done: false };
    this.#pending ??= this.#rest.next();
    const pending = this.#pending;
    const beat = new Heartbeat(this.#clock);
    try {
      const next = await Promise.race([pending, beat.due]);
      if (next !== 'heartbeat') this.#pending = undefined;
      return next;
    } finally {
      beat.stop();
    }
  }
}

class Heartbeat {
  readonly due: Promise<'heartbeat'>;
  /** Lets it never be due. */
  stop: () => void = () => {};

  constructor(clock: Clock) {
    this.due = new Promise((resolve) => {
      this.stop = clock.after(HEARTBEAT_MS, () => resolve('heartbeat'));
    });
  }
}
