import { reviseFailure } from '../../api/failures.ts';
import { noticeTrouble } from '../../api/poll.ts';
import { speechJobBody } from '../../api/resources/jobs.ts';
import type { SpeechJob } from '../../api/resources/jobs.ts';
import type { AudioResponse, SpeechOrder } from '../../api/resources/speech.ts';
import type { Clock } from '../../system/clock.ts';
import { Failure } from '../../errors/failure.ts';
import { saveFile } from '../../paid/job.ts';
import { reusedMetadata } from '../../paid/reuse/reused.ts';
import { buyJob } from '../../paid/speakers/speech-job.ts';
import type { KeyOf } from '../journal/keys.ts';
import { itemKeys, renewableKey } from '../journal/keys.ts';
import type { BatchOptions } from './batch-options.ts';
import type { DeliveredItem, ItemSpeaker, ItemWork, OutputFolders } from './publish-audio.ts';
import { findReused, publishedFacts } from './publish-audio.ts';

/** Speaks items as v3 jobs (docs/api/jobs.md#v3), whose audio can be downloaded repeatedly. */
export class JobSpeaker implements ItemSpeaker {
  readonly keyOf: KeyOf;
  readonly #batch: BatchOptions;
  readonly #folders: OutputFolders;
  readonly #onTrouble: (failure: Failure) => void;
  readonly #onPollTrouble: (failure: Failure) => void;
  readonly #expected = new ExpectedTime();

  /** @param onTrouble called if the journal cannot be written */
  constructor(batch: BatchOptions, folders: OutputFolders, onTrouble: (failure: Failure) => void) {
    this.#batch = batch;
    this.#folders = folders;
    this.#onTrouble = onTrouble;
    this.#onPollTrouble = noticeTrouble(batch.notice);
    this.keyOf = itemKeys('createJob', batch);
  }

  readonly bodyOf = (order: SpeechOrder): Uint8Array => speechJobBody(order).bytes;

  readonly sidecars = (): readonly string[] => [];

  async speak(work: ItemWork, signal: AbortSignal): Promise<DeliveredItem> {
    const { client, folder, reuse, system } = this.#batch;
    const { clock, random } = system;
    const onTrouble = this.#onTrouble;
    const { file, item } = work;
    let { status } = work;
    const isBegun = status.facts.jobId !== undefined;
    const reused = isBegun ? undefined : await findReused(work, reuse, false);
    if (reused !== undefined) return this.#copyReused(work, reused);
    const key = renewableKey(status, this.keyOf, async (renewed) => {
      await folder.plan([renewed]);
      status = renewed;
    });
    const timing = this.#expected.time(item.characters, clock);
    const placeFor = async () => ({ output: await this.#folders.open(work) });
    let newCredits: number | undefined;
    const { saved } = await buyJob({
      client,
      order: item.order,
      format: item.order.format,
      options: { ...key, signal },
      recorded: status.facts,
      reuse,
      polling: {
        clock,
        random,
        expectedMs: timing.expectedMs,
        onState: timing.polled,
        onTrouble: this.#onPollTrouble,
      },
      placeFor,
      missing: missingJob,
      async onCreated({ creditsUsed, id: jobId, requestId }) {
        const facts = { jobId, requestId, ...(creditsUsed === undefined ? {} : { creditsUsed }) };
        // Without this record, the next run sends the request again, and its key returns the same job. If the record
        // cannot be written, the batch starts no further item but delivers this one.
        status = folder.noteSoon(status, 'accepted', facts, onTrouble);
        timing.begun();
      },
      async onEnded(job) {
        timing.ended();
        if (job.phase === 'failed') {
          folder.noteSoon(status, 'failed', { problem: problemOf(job) }, onTrouble);
          throw jobFailure(job);
        }
        newCredits = folder.index.isDelivered(job.id) ? 0 : job.creditsUsed;
        work.onMade?.(newCredits);
      },
      async onVerified({ checksum: sha256, ...facts }, { creditsUsed, phase }) {
        const cost = creditsUsed === undefined ? {} : { creditsUsed };
        const isPartial = phase === 'partial';
        // Without its hash in the journal, the next run would not recognize the file as its own.
        status = await folder.note(status, 'verified', { ...facts, sha256, ...cost, isPartial });
      },
    });
    const published = await publishedFacts(file, saved, system.files);
    return { status, published, creditsUsed: newCredits };
  }

  // The journal records the audio only after it has its name: a killed run then looks for the stored audio again.
  async #copyReused(work: ItemWork, audio: AudioResponse): Promise<DeliveredItem> {
    const { order } = work.item;
    work.onMade?.(0);
    const placeFor = async () => ({ output: await this.#folders.open(work) });
    const result = { file: audio, format: order.format, text: order.text };
    const saved = await saveFile(result, { id: work.item.id }, { placeFor });
    const published = await publishedFacts(work.file, saved, this.#batch.system.files);
    const facts = { ...published, creditsUsed: 0, ...reusedMetadata(audio) };
    const status = await this.#batch.folder.note(work.status, 'verified', facts);
    return { status, published, creditsUsed: 0, reused: audio.reused };
  }
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
function missingJob(failure: Failure, id: string): Failure {
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

  /** Returns functions that measure a job, and the expected duration of the job in milliseconds. */
  time(characters: number, clock: Clock) {
    const expectedMs = this.of(characters);
    let start: number | undefined;
    let polls = 0;
    return {
      expectedMs,
      /** Called when the job is created. The duration of a job that an earlier command created is unknown. */
      begun: () => (start = clock.monotonic()),
      polled: () => (polls += 1),
      ended: () => {
        if (start === undefined || polls === 0) return;
        const guess =
          expectedMs === undefined ? undefined : { ms: expectedMs, wasEnough: polls === 1 };
        this.learn(characters, clock.monotonic() - start, guess);
      },
    };
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
