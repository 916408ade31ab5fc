import type { ApiClient } from '../../api/client.ts';
import { reviseFailure, isNotFound } from '../../api/failures.ts';
import {
  createSpeechJob,
  pollPace,
  pollSpeechJob,
  speechJobBody,
} from '../../api/resources/jobs.ts';
import type { SpeechJob } from '../../api/resources/jobs.ts';
import type { AudioResponse, SpeechOrder } from '../../api/resources/speech.ts';
import type { System } from '../../system/system.ts';
import { Failure } from '../../errors/failure.ts';
import type { ReuseStore } from '../../paid/reuse/reuse-store.ts';
import { reusedMetadata } from '../../paid/reuse/reused.ts';
import { downloadSpeech } from '../../paid/speakers/speech-job.ts';
import type { BatchFolder } from '../journal/batch-folder.ts';
import type { ItemStatus } from '../journal/journal.ts';
import type { PurchaseMetadata } from '../../paid/purchase.ts';
import type { KeyOf } from '../journal/keys.ts';
import { itemKeys, renewableKey } from '../journal/keys.ts';
import type {
  DeliveredItem,
  ItemSpeaker,
  ItemWork,
  OutputFolders,
  Publication,
} from './publish-audio.ts';
import { boughtItem, findReused, publishAudio } from './publish-audio.ts';

interface JobSpeakerOptions extends System {
  readonly client: ApiClient;
  readonly folder: Pick<
    BatchFolder,
    'index' | 'note' | 'noteSoon' | 'plan' | 'secret' | 'temporaries'
  >;
  readonly origin: string;
  readonly folders: OutputFolders;
  readonly maxRetries: number;
  readonly reuse?: ReuseStore | undefined;
  readonly onTrouble: (failure: Failure) => void;
  /** Called when a poll of a job fails but polling continues. */
  readonly onPollTrouble: (failure: Failure) => void;
}

/** Speaks items as v3 jobs (docs/api/jobs.md#v3), whose audio can be downloaded repeatedly. */
export class JobSpeaker implements ItemSpeaker {
  readonly keyOf: KeyOf;
  readonly #options: JobSpeakerOptions;
  readonly #expected = new ExpectedTime();

  constructor(options: JobSpeakerOptions) {
    this.#options = options;
    this.keyOf = itemKeys('createJob', options);
  }

  readonly bodyOf = (order: SpeechOrder): Uint8Array => speechJobBody(order).bytes;

  readonly sidecars = (): readonly string[] => [];

  async speak(work: ItemWork, signal: AbortSignal): Promise<DeliveredItem> {
    const { jobId } = work.status.facts;
    if (jobId !== undefined) return this.#finish(work, work.status, jobId, undefined, signal);
    const reused = await findReused(work, this.#options.reuse, false);
    if (reused !== undefined) return this.#copyReused(work, reused);
    const { job, status } = await this.#create(work, signal);
    return this.#finish(work, status, job.id, job, signal);
  }

  // The journal records the audio only after it has its name: a killed run then looks for the stored audio again.
  async #copyReused(work: ItemWork, audio: AudioResponse): Promise<DeliveredItem> {
    const { folder } = this.#options;
    work.onMade?.(0);
    const published = await this.#publish(audio, { ...work, onVerified: recordNothing });
    const facts = { ...published, creditsUsed: 0, ...reusedMetadata(audio) };
    const status = await folder.note(work.status, 'verified', facts);
    return { status, published, creditsUsed: 0, reused: audio.reused };
  }

  async #create(
    work: ItemWork,
    signal: AbortSignal,
  ): Promise<{ job: SpeechJob; status: ItemStatus }> {
    const { client, folder, onTrouble } = this.#options;
    let { status } = work;
    const key = renewableKey(status, this.keyOf, async (renewed) => {
      await folder.plan([renewed]);
      status = renewed;
    });
    const job = await createSpeechJob(client, work.item.order, { ...key, signal });
    const { creditsUsed, id: jobId, requestId } = job;
    const facts = { jobId, requestId, ...(creditsUsed === undefined ? {} : { creditsUsed }) };
    // Without this record, the next run sends the request again, and its key returns the same job. If the record cannot
    // be written, the batch starts no further item but delivers this one.
    return { job, status: folder.noteSoon(status, 'accepted', facts, onTrouble) };
  }

  async #finish(
    work: ItemWork,
    accepted: ItemStatus,
    id: string,
    created: SpeechJob | undefined,
    signal: AbortSignal,
  ): Promise<DeliveredItem> {
    const { folder, onTrouble } = this.#options;
    const job = await this.#poll(work, id, created, signal);
    // A service may report the credits only when it creates the job.
    const { creditsUsed = accepted.facts.creditsUsed } = job;
    if (job.phase === 'failed') {
      folder.noteSoon(accepted, 'failed', { problem: problemOf(job) }, onTrouble);
      throw jobFailure(job);
    }
    const newCredits = folder.index.isDelivered(id) ? 0 : creditsUsed;
    work.onMade?.(newCredits);
    let status = accepted;
    const published = await this.#download(
      work,
      job,
      { creditsUsed, requestId: accepted.facts.requestId ?? job.requestId },
      async (facts) => {
        const cost = creditsUsed === undefined ? {} : { creditsUsed };
        const isPartial = job.phase === 'partial';
        // Without its hash in the journal, the next run would not recognize the file as its own.
        status = await folder.note(status, 'verified', { ...facts, ...cost, isPartial });
      },
      signal,
    );
    return { status, published, creditsUsed: newCredits };
  }

  async #poll(
    { item: { characters } }: ItemWork,
    id: string,
    known: SpeechJob | undefined,
    signal: AbortSignal,
  ): Promise<SpeechJob> {
    const { client, clock, onPollTrouble: onTrouble, random } = this.#options;
    const start = clock.monotonic();
    const expectedMs = this.#expected.of(characters);
    const pace = pollPace(client, 'v3');
    let polls = 0;
    const onState = (): number => (polls += 1);
    const options = { known, clock, random, pace, signal, expectedMs, onState, onTrouble };
    const job = await pollSpeechJob(client, { id, api: 'v3' }, options).catch((error: unknown) => {
      throw isNotFound(error) ? missingJob(id, error) : error;
    });
    if (known !== undefined && polls > 0) {
      const guess =
        expectedMs === undefined ? undefined : { ms: expectedMs, wasEnough: polls === 1 };
      this.#expected.learn(characters, clock.monotonic() - start, guess);
    }
    return job;
  }

  async #download(
    { file, isNew, item }: ItemWork,
    job: SpeechJob,
    bill: Pick<AudioResponse, 'creditsUsed' | 'requestId'>,
    onVerified: (facts: PurchaseMetadata) => Promise<void>,
    signal: AbortSignal,
  ): Promise<PurchaseMetadata> {
    const { client, maxRetries, reuse } = this.#options;
    const save = (audio: AudioResponse): Promise<PurchaseMetadata> => {
      const isWhole = job.phase !== 'partial';
      const copy = isWhole ? reuse?.copyOf(boughtItem(item, false), audio, bill) : undefined;
      return this.#publish(audio, { file, isNew, item, onVerified, copy });
    };
    return downloadSpeech(client, job, save, { maxRetries, signal }).catch((error: unknown) => {
      throw isNotFound(error) ? missingJob(job.id, error) : error;
    });
  }

  #publish(
    audio: AudioResponse,
    { copy, file, isNew, item, onVerified }: Omit<Publication, 'folders' | 'temporaries'>,
  ): Promise<PurchaseMetadata> {
    const { folder, folders } = this.#options;
    const { temporaries } = folder;
    const publication = { copy, file, isNew, item, folders, temporaries, onVerified };
    return publishAudio(audio, publication, this.#options);
  }
}

function recordNothing(): Promise<void> {
  return Promise.resolve();
}

function problemOf({ error, status }: SpeechJob): string {
  return error?.message ?? error?.code ?? `its status is ${status}`;
}

function jobFailure(job: SpeechJob): Failure {
  return new Failure(`the job ${job.id} failed: ${problemOf(job)}`, {
    code: job.error?.code ?? 'ERR_JOB_FAILED',
    exit: 'rejected',
    hint: 'The job was refunded; --retry-failed speaks the item again.',
    billed: 'no',
    requestId: job.requestId,
    details: { jobId: job.id },
  });
}

// Not journaled, because the job may belong to another API key or account.
function missingJob(id: string, failure: Failure): Failure {
  return reviseFailure(failure, {
    message: `the service does not know the job ${id}, which was billed`,
    exit: 'lost',
    billed: 'yes',
    hint: 'Check that the service and the account are those of the first run. If the job was deleted, --redo speaks and bills the item again.',
  });
}

interface Guess {
  readonly ms: number;
  readonly wasEnough: boolean;
}

// If a longer estimate were wrong, it would waste more time than polling takes.
const MAX_EXPECTED_MS = 2_000;
// The first guess is shortened by this fraction after a job that was done at the first poll.
const FIRST_STEP = 0.05;
// `step` is halved, down to this value, after each guess that was too short.
const MIN_STEP = 0.002;

interface Estimate {
  readonly ms: number;
  // How much to shorten the next guess, as a fraction of `ms`.
  readonly step: number;
}

/** Estimates how long jobs take, so that the first poll happens when a job is about to finish. */
export class ExpectedTime {
  readonly #estimates = new Map<number, Estimate>();

  /** Returns the expected duration of a job in milliseconds; undefined without an estimate. */
  of(characters: number): number | undefined {
    return this.#estimates.get(lengthClass(characters))?.ms;
  }

  /**
   * Adjusts the estimate after a job.
   * @param ms duration of the job
   * @param guess the estimate that set the time of the job's first poll; undefined if there was no estimate
   */
  learn(characters: number, ms: number, guess: Guess | undefined): void {
    const length = lengthClass(characters);
    const before = this.#estimates.get(length) ?? { ms, step: FIRST_STEP };
    const next = nextEstimate(before, ms, guess);
    this.#estimates.set(length, { ...next, ms: Math.min(MAX_EXPECTED_MS, next.ms) });
  }
}

function nextEstimate(before: Estimate, ms: number, guess: Guess | undefined): Estimate {
  if (guess === undefined) return { ...before, ms: Math.min(before.ms, ms) };
  if (guess.wasEnough) {
    // Jobs that run at the same time have the same guess. Only the first of them shortens the estimate, and none does
    // if another was not done at the first poll.
    return guess.ms === before.ms ? { ...before, ms: before.ms * (1 - before.step) } : before;
  }
  // The job ended between the guess and now.
  const between = guess.ms + (ms - guess.ms) / 3;
  return { ms: Math.max(before.ms, between), step: Math.max(MIN_STEP, before.step / 2) };
}

function lengthClass(characters: number): number {
  return Math.floor(Math.log2(Math.max(1, characters)));
}
