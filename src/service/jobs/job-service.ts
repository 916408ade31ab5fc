import { endpointOf } from '../../contract/endpoint-lookup.ts';
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import type { Faults } from '../http/faults.ts';
import type { OperationRequest, Refusal } from '../operations/operations.ts';
import { claim, refusalError } from '../operations/operations.ts';
import type { Ownership } from '../operations/owner.ts';
import type { ServiceEvent } from '../running-service.ts';
import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { JobTypes } from './work-on-job.ts';
import { advanceJob, isUnowned, workOnJob } from './work-on-job.ts';
import type { StoredJob, JobFilter, JobKind, JobRecord, Json } from './job-records.ts';
import { listJobs, readJob } from './job-records.ts';
import { hasEnded, newJob } from './lifecycle.ts';
import { JobScheduler } from './job-scheduler.ts';
import { endsParagraph, splitClauses } from '../../text/sentences.ts';
import { countCodePoints } from '../../text/code-points.ts';

interface JobsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly ownership: Ownership;
  readonly faults: Faults;
  readonly types: JobTypes;
  readonly report: (event: ServiceEvent) => void;
  /** The number of requests that the engines of the service speak at once. */
  readonly maxConcurrent: number;
}

/** Accepts, finds and runs jobs of all kinds and accounts. */
export class Jobs extends JobScheduler {
  readonly #deps: JobsDeps;

  constructor(deps: JobsDeps) {
    super(deps);
    this.#deps = deps;
  }

  protected override work(jobId: string, signal: AbortSignal): Promise<void> {
    return workOnJob(this.#deps, jobId, signal);
  }

  protected override release(db: Connection, jobId: string): boolean {
    const { clock, ownership } = this.#deps;
    const { owner } = ownership;
    advanceJob(db, { jobId, owner, now: clock.now(), event: { type: 'released' } });
    return readJob(db, jobId)?.finishedAt === undefined;
  }

  /**
   * Stores and queues a job, and reserves its price.
   * @throws ServiceError 402 for too few credits, 409 for a used idempotency key, 503 when the service closes
   * @throws the errors that `request.check` throws
   */
  accept(request: NewJob): StoredJob {
    this.requireOpen();
    const { ownership, store } = this.#deps;
    const releaseLease = ownership.hold();
    try {
      const accepted = store.write((db) => this.acceptWithin(db, request));
      if (accepted.kind !== 'accepted') throw refusalError(accepted, request.charge);
      this.enqueue(accepted.job);
      return accepted.job;
    } finally {
      releaseLease();
    }
  }

  /**
   * Stores a job and reserves its price, in the caller's transaction. After this transaction, the caller must call
   * `enqueue`. Returns a refusal if the account has too few credits or the idempotency key is used.
   */
  acceptWithin(db: Connection, request: NewJob): JobAcceptance {
    const { clock, faults, ownership, random, report } = this.#deps;
    const { owner } = ownership;
    const { endpoint, id = random.uuid() } = request;
    const { count, outcome: fault } = faults.ofJob(endpointOf(endpoint));
    const now = clock.now();
    request.check?.(db);
    const refusal = claim(db, { id, owner, now, state: 'completed' }, request);
    if (refusal !== undefined) return refusal;
    const { accountId, answer = {}, charge, kind, order, text = '' } = request;
    const segments = segmentText(text, fault === 'partial_fail' ? 2 : 1);
    const { status, attempts } = newJob(segments.length);
    db.insert('job', {
      id,
      account_id: accountId,
      kind,
      status,
      attempts,
      owner_id: owner.id,
      progress: 0,
      order_json: JSON.stringify(order),
      answer_json: JSON.stringify(answer),
      characters: charge.quota,
      credits: charge.credits,
      created_at: now,
      // Only speech jobs can fail partly.
      fault: fault !== undefined && kind !== 'speech' ? 'fail' : fault,
    });
    for (const [number, segment] of segments.entries()) {
      db.insert('job_segment', { job_id: id, number, ...segment, status: 'pending' });
    }
    const job = readJob(db, id);
    if (job === undefined) throw new TypeError('An accepted job is missing');
    count();
    if (fault !== undefined) report({ type: 'job-fault', jobId: id, outcome: fault });
    return { kind: 'accepted', job };
  }

  /**
   * Returns a job by id, if its account and kind match. Queues an unfinished job again if it stopped, or if the process
   * that ran it is dead.
   * @throws ServiceError 507 if the job stopped because the disk is full, or another error that stopped it
   */
  find(accountId: string, kind: JobKind, jobId: string): StoredJob | undefined {
    const { ownership, store } = this.#deps;
    const { owner } = ownership;
    return store.read((db) => {
      const job = readJob(db, jobId);
      if (job?.accountId !== accountId || job.kind !== kind) return undefined;
      const isOurs = job.ownerId === owner.id && !hasEnded(job.status);
      if (!hasEnded(job.status)) this.throwFailure(jobId);
      if (isOurs || isUnowned(db, job, owner)) this.add(job);
      return job;
    });
  }

  /**
   * Returns a job by id and kind, without checking the account. The caller must have verified a signed link to the job.
   */
  findAny(kind: JobKind, jobId: string): StoredJob | undefined {
    const job = this.#deps.store.read((db) => readJob(db, jobId));
    return job?.kind === kind ? job : undefined;
  }

  /** Lists jobs of one kind, newest first. */
  list(accountId: string, kind: JobKind, filter: JobFilter): readonly JobRecord[] {
    return this.#deps.store.read((db) => listJobs(db, accountId, kind, filter));
  }
}

/** A request for a new job. The files that the job needs are already imported. */
export interface NewJob extends OperationRequest {
  /** Id of the job, which is also the name of its folder. Default: a new id. */
  readonly id?: string | undefined;
  readonly kind: JobKind;
  readonly order: Json;
  /**
   * The response body to send when the job is accepted. A retry of the request gets the same body. By default, a retry
   * gets the current state of the job.
   */
  readonly answer?: Json | undefined;
  /** The text to speak; speech jobs only. */
  readonly text?: string | undefined;
  /** Called first in the transaction that stores the job. If this function throws, the job is not stored. */
  readonly check?: ((db: Connection) => void) | undefined;
}

export type JobAcceptance = { readonly kind: 'accepted'; readonly job: StoredJob } | Refusal;

/** Maximum number of characters in a segment: about a minute of speech. */
export const SEGMENT_MAX_CHARACTERS = 1_000;

// A segment of at least this length ends at the end of its paragraph.
const PARAGRAPH_MIN_CHARACTERS = SEGMENT_MAX_CHARACTERS / 2;

/** A part of a longer text. The service speaks each segment separately. */
export interface TextSegment {
  readonly text: string;
  readonly characters: number;
}

/**
 * Splits a text into segments of at most 1,000 characters. Segments end at sentence ends; only a sentence above 1,000
 * characters is split, at a clause or between words. The concatenated segments equal the text.
 * @param minimum minimum number of segments; with 2, a text of one segment is split near its middle
 */
export function segmentText(text: string, minimum: 1 | 2 = 1): readonly TextSegment[] {
  const segments: TextSegment[] = [];
  let current: TextSegment = { text: '', characters: 0 };
  const close = (): void => {
    if (current.text !== '') segments.push(current);
    current = { text: '', characters: 0 };
  };
  for (const piece of splitClauses(text, SEGMENT_MAX_CHARACTERS)) {
    const characters = countCodePoints(piece.text);
    if (current.characters + characters > SEGMENT_MAX_CHARACTERS) close();
    current = {
      text: current.text + piece.text,
      characters: current.characters + characters,
    };
    if (current.characters >= PARAGRAPH_MIN_CHARACTERS && endsParagraph(piece.text)) close();
  }
  close();
  return segments.length < minimum ? splitInTwo(text) : segments;
}

// Near the middle: between words if both parts can then be spoken, otherwise between any two characters.
function splitInTwo(text: string): readonly TextSegment[] {
  const characters = Array.from(text);
  const half = Math.ceil(characters.length / 2);
  const first = characters.findIndex((character) => SAYABLE.test(character));
  const last = characters.findLastIndex((character) => SAYABLE.test(character));
  const starts = [...characters.keys()].filter(
    (at) => at > first && at <= last && /\s/.test(characters[at - 1] ?? ''),
  );
  const [start = half] = starts.sort((a, b) => Math.abs(a - half) - Math.abs(b - half));
  return [characters.slice(0, start), characters.slice(start)]
    .filter((part) => part.length > 0)
    .map((part) => ({ text: part.join(''), characters: part.length }));
}

const SAYABLE = /[\p{L}\p{N}]/u;
