import type { ApiClient } from '../../api/client.ts';
import { reviseFailure, isNotFound } from '../../api/failures.ts';
import {
  fetchJobAudio,
  createSpeechJob,
  pollPace,
  pollSpeechJob,
  speechJobBody,
  speechJobRequest,
} from '../../api/resources/jobs.ts';
import type { SpeechJob } from '../../api/resources/jobs.ts';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import type { FileDeps } from '../../durable/files.ts';
import { Failure } from '../../errors/failure.ts';
import type { BatchFolder } from '../journal/batch-folder.ts';
import type { ItemFacts, ItemState, ItemStatus } from '../journal/journal.ts';
import { itemKey } from '../journal/keys.ts';
import type { DeliveredItem, ItemSpeaker, ItemWork } from './item-speaker.ts';
import type { OutputFolders } from './publish-audio.ts';
import { publishAudio } from './publish-audio.ts';

interface JobSpeakerOptions extends FileDeps {
  readonly client: ApiClient;
  readonly folder: Pick<BatchFolder, 'note' | 'notePublished' | 'plan' | 'secret' | 'temporaries'>;
  readonly origin: string;
  readonly folders: OutputFolders;
  /** How often a download that breaks off is begun again. */
  readonly maxRetries: number;
  /** What is paid for could not be written down. */
  readonly onTrouble: (failure: Failure) => void;
}

/** Speaks items as jobs of v3 (docs/api/jobs.md#v3), whose audio can be fetched again. */
export function createJobSpeaker(options: JobSpeakerOptions): ItemSpeaker {
  return new JobSpeaker(options);
}

/** Method and path of what a key is derived for. */
function jobEndpoint(client: ApiClient): string {
  const { method, target } = speechJobRequest(client, NO_ORDER, { idempotencyKey: NO_KEY });
  return `${method} ${String(target)}`;
}

const NO_ORDER = { text: '', voiceId: '' };
const NO_KEY = { value: '', madeByTool: false };

class JobSpeaker implements ItemSpeaker {
  readonly endpoint: string;
  readonly #options: JobSpeakerOptions;
  readonly #expected = createExpectedTime();

  constructor(options: JobSpeakerOptions) {
    this.#options = options;
    this.endpoint = jobEndpoint(options.client);
  }

  bodyOf(order: SpeechOrder): Uint8Array {
    return speechJobBody(order).bytes;
  }

  besides(): readonly string[] {
    return [];
  }

  async speak(work: ItemWork, signal: AbortSignal): Promise<DeliveredItem> {
    const { jobId } = work.status.facts;
    if (jobId !== undefined) {
      const noted = Promise.resolve(work.status);
      return this.#finish(work, noted, { id: jobId, known: undefined }, signal);
    }
    const { job, noted } = await this.#create(work, signal);
    return this.#finish(work, noted, { id: job.id, known: job }, signal);
  }

  /** Asks for the job; its id is written down as soon as it is known. */
  async #create(
    { item, status: planned }: ItemWork,
    signal: AbortSignal,
  ): Promise<{ job: SpeechJob; noted: Promise<ItemStatus> }> {
    let status = planned;
    for (let isFirst = true; ; isFirst = false) {
      const value = status.about?.key ?? this.#keyOf(status);
      try {
        const job = await createSpeechJob(this.#options.client, item.order, {
          idempotencyKey: { value, madeByTool: false },
          signal,
        });
        return { job, noted: this.#note(status, 'accepted', factsOf(job)) };
      } catch (error) {
        const isRefunded = error instanceof Failure && error.code === REFUNDED;
        if (!isRefunded || !isFirst) throw error;
        status = await this.#raise(status);
      }
    }
  }

  /** What was under the key was given back, so that only another one can buy it. */
  async #raise(status: ItemStatus): Promise<ItemStatus> {
    const next = {
      ...status,
      generation: status.generation + 1,
      state: 'planned',
      facts: {},
    } as const;
    const { about } = status;
    const raised: ItemStatus = {
      ...next,
      about: about === undefined ? about : { ...about, key: this.#keyOf(next) },
    };
    await this.#options.folder.plan([raised]);
    return raised;
  }

  #keyOf({ body, generation }: ItemStatus): string {
    const { folder, origin } = this.#options;
    return itemKey(folder.secret, {
      origin,
      endpoint: this.endpoint,
      body,
      generation,
    });
  }

  async #finish(
    work: ItemWork,
    noted: Promise<ItemStatus>,
    { id, known }: { readonly id: string; readonly known: SpeechJob | undefined },
    signal: AbortSignal,
  ): Promise<DeliveredItem> {
    // The service works while the disk does.
    const [job, accepted] = await Promise.all([this.#settled(work, { id, known }, signal), noted]);
    if (job.phase === 'failed') {
      await this.#note(accepted, 'failed', { problem: wordsOf(job) });
      throw jobFailure(job);
    }
    work.onMade?.(job.creditsUsed);
    const isPartial = job.phase === 'partial';
    let status = accepted;
    const published = await this.#download(
      { ...work, status },
      job,
      async (facts) => {
        const { creditsUsed } = job;
        const cost = creditsUsed === undefined ? {} : { creditsUsed };
        // A file whose hash is not written down would be a stranger's to the next run.
        const { folder } = this.#options;
        status = await folder.note(status, 'verified', { ...facts, ...cost, isPartial });
      },
      signal,
    );
    status = this.#options.folder.notePublished(status, published);
    return { status, bytes: published.bytes, creditsUsed: job.creditsUsed, isPartial };
  }

  async #settled(
    { item }: ItemWork,
    { id, known }: { readonly id: string; readonly known: SpeechJob | undefined },
    signal: AbortSignal,
  ): Promise<SpeechJob> {
    const { client, clock, random } = this.#options;
    const start = clock.monotonic();
    const expectedMs = this.#expected.of(item.characters);
    let polls = 0;
    const job = await pollSpeechJob(
      client,
      { id, api: 'v3' },
      {
        known,
        clock,
        random,
        pace: pollPace(client, 'v3'),
        signal,
        expectedMs,
        onState: () => (polls += 1),
      },
    ).catch((error: unknown) => {
      throw isNotFound(error) ? goneFailure(id, error) : error;
    });
    if (known !== undefined && polls > 0) {
      const guess =
        expectedMs === undefined ? undefined : { ms: expectedMs, wasEnough: polls === 1 };
      this.#expected.learn(item.characters, clock.monotonic() - start, guess);
    }
    return job;
  }

  /** A body that is cut is begun again: a job's audio costs nothing to fetch. */
  async #download(
    { file, isNew, item }: ItemWork,
    job: SpeechJob,
    onVerified: (facts: ItemFacts) => Promise<void>,
    signal: AbortSignal,
  ) {
    const { client, folder, maxRetries } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await fetchJobAudio(client, job, signal);
        const { temporaries } = folder;
        const { format, text } = item.order;
        const { folders } = this.#options;
        const publication = { format, text, file, folders, temporaries, isNew, onVerified };
        return await publishAudio(answer, publication, this.#options);
      } catch (error) {
        signal.throwIfAborted();
        if (isNotFound(error)) throw goneFailure(job.id, error);
        const isCut = error instanceof Failure && error.exit === 'badAnswer';
        if (!isCut || attempt >= Math.min(maxRetries, MOST_DOWNLOADS)) throw error;
      }
    }
  }

  /** The money is spent: a journal that fails now takes nothing away, but ends the batch. */
  async #note(status: ItemStatus, state: ItemState, facts: ItemFacts): Promise<ItemStatus> {
    try {
      return await this.#options.folder.note(status, state, facts);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#options.onTrouble(error);
      return { ...status, state, facts: { ...status.facts, ...facts } };
    }
  }
}

const REFUNDED = 'ERR_REQUEST_PREVIOUSLY_REFUNDED';
const MOST_DOWNLOADS = 4;

function factsOf({ creditsUsed, id, requestId }: SpeechJob): ItemFacts {
  return { jobId: id, requestId, ...(creditsUsed === undefined ? {} : { creditsUsed }) };
}

function wordsOf({ error, status }: SpeechJob): string {
  return error?.message ?? error?.code ?? `its status is ${status}`;
}

function jobFailure(job: SpeechJob): Failure {
  return new Failure(`the job ${job.id} failed: ${wordsOf(job)}`, {
    code: job.error?.code ?? 'ERR_JOB_FAILED',
    exit: 'rejected',
    hint: 'It was given back; --retry-failed asks for it again.',
    billed: 'no',
    requestId: job.requestId,
    details: { jobId: job.id },
  });
}

/** Nothing is concluded from it: with another key or account the job may be there. */
function goneFailure(id: string, failure: Failure): Failure {
  return reviseFailure(failure, {
    message: `the service does not know the job ${id} (any more), which was paid for`,
    exit: 'lost',
    billed: 'yes',
    hint: 'Check that it is the same service and account. If it is gone for good, --redo buys it again.',
  });
}

/** How long jobs of a batch take, so that a job is asked about first when it is about to be done. */
interface ExpectedTime {
  /** Milliseconds; undefined while nothing is known. */
  of(characters: number): number | undefined;
  /** A job was done after `ms`; `guess` is what was expected of it, if anything was. */
  learn(characters: number, ms: number, guess: Guess | undefined): void;
}

interface Guess {
  readonly ms: number;
  /** It was done when it was first asked about. */
  readonly wasEnough: boolean;
}

/** Beyond this a wrong guess would cost more than questions do. */
const MOST_MS = 2_000;
/** Done at the first question, it may have been done before: it is asked about so much sooner the next time. */
const FIRST_STEP = 0.05;
/** Each time that it was not yet done then, it is known better, and the steps become smaller; to this. */
const LEAST_STEP = 0.003;

interface Known {
  readonly ms: number;
  /** A share of `ms`. */
  readonly step: number;
}

/** Jobs of about the same length take about the same time: each doubling of the text is on its own. */
export function createExpectedTime(): ExpectedTime {
  const known = new Map<number, Known>();
  return {
    of: (characters) => {
      const ms = known.get(lengthClass(characters))?.ms;
      return ms === undefined ? undefined : Math.min(MOST_MS, ms);
    },
    learn(characters, ms, guess) {
      const length = lengthClass(characters);
      const before = known.get(length) ?? { ms, step: FIRST_STEP };
      known.set(length, learned(before, ms, guess));
    },
  };
}

/** Many guess the same at once, so that what is learned of each goes out from its own guess. */
function learned(before: Known, ms: number, guess: Guess | undefined): Known {
  if (guess === undefined) return { ...before, ms: Math.min(before.ms, ms) };
  if (guess.wasEnough) return { ...before, ms: Math.min(before.ms, guess.ms * (1 - before.step)) };
  // It became done between the guess and now.
  const between = (guess.ms + ms) / 2;
  return { ms: Math.max(before.ms, between), step: Math.max(LEAST_STEP, before.step / 2) };
}

function lengthClass(characters: number): number {
  return Math.floor(Math.log2(Math.max(1, characters)));
}
