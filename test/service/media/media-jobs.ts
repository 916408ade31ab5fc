import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Check } from 'typebox/schema';
import { onTestFinished } from 'vitest';
import { abortable } from '../../../src/system/concurrency.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import type { Liveness } from '../../../src/system/processes.ts';
import { systemProcesses } from '../../../src/system/processes.ts';
import { systemRandom } from '../../../src/system/random.ts';
import { prepareAccounts } from '../../../src/service/ledger/accounts.ts';
import { amountsIn } from '../../../src/service/ledger/ledger.ts';
import { createFaults } from '../../../src/service/http/faults.ts';
import type { RunTask } from '../../../src/service/media/child/run-task.ts';
import { createMediaJobs } from '../../../src/service/media/media-jobs.ts';
import type { NewJob } from '../../../src/service/jobs/job-service.ts';
import type { Json, StoredMediaKind } from '../../../src/service/jobs/job-records.ts';
import { Jobs } from '../../../src/service/jobs/job-service.ts';
import type { JobType } from '../../../src/service/jobs/work-on-job.ts';
import type { StoredLipSync } from '../../../src/service/media/lipsync/sync-lips.ts';
import type { StoredImage, StoredVideo } from '../../../src/service/media/pictures/pictures.ts';
import { createOperations } from '../../../src/service/operations/operations.ts';
import type { ServiceEvent } from '../../../src/service/running-service.ts';
import type { Store } from '../../../src/service/store/open-store.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { ManualClock } from '../../api/manual-clock.ts';
import { manualClock } from '../../api/manual-clock.ts';
import { mediaSources } from '../support/new-service.ts';
import { temporaryFolder } from '../support/test-service.ts';

const ACCOUNT = 'first';
export const CREDITS = 1_000;
/** What a job costs here, of every kind. */
export const PRICE = 10;

const DRAWING = { prompt: 'A fox', model: 'any', seed: 1, width: 64, height: 64, references: [] };
const IMAGE: StoredImage = {
  ...DRAWING,
  createdAt: 0,
  aspect_ratio: '1:1',
  resolution: '1k',
  output_format: 'png',
};
const VIDEO: StoredVideo = { ...DRAWING, createdAt: 0, size: '64x64', seconds: 1 };
const LIP_SYNC: StoredLipSync = {
  video: { codec: 'avc', width: 64, height: 64, seconds: 1 },
  audio: { codec: 'mp3', seconds: 1, start: 0, paddingSeconds: 0 },
  audioFile: 'audio',
  seconds: 1,
  tempo: 1,
  billedSeconds: 1,
  credits: PRICE,
  rule: 'shorter_input_rounded_up',
};

const ORDERS: Readonly<Record<StoredMediaKind, Json>> = {
  image: IMAGE,
  video: VIDEO,
  lip_sync: LIP_SYNC,
  video_dubbing: LIP_SYNC,
};

type MediaJobRequest = NewJob & { readonly id: string };

export interface MediaJobsFixture {
  readonly jobs: Jobs;
  readonly store: Store;
  readonly clock: ManualClock;
  readonly events: readonly ServiceEvent[];
  /** The started tasks, in order; each runs until the test ends it. */
  readonly begun: readonly string[];
  /** Lets every task end that was begun. */
  endAll(): void;
  /** Something to be accepted, under this id. */
  request(kind: StoredMediaKind, id?: string): MediaJobRequest;
  /** Accepts one job of each kind that is named, and gives their ids. */
  accept(...kinds: readonly StoredMediaKind[]): readonly string[];
  /** What is known of a job, and who has it. */
  rowOf(id: string): Json | undefined;
  credits(): number;
  /** Puts files into the folder of a job. */
  put(id: string, ...names: readonly string[]): Promise<void>;
  filesOf(id: string): Promise<readonly string[]>;
}

interface FixtureOptions {
  /** That of a scene before. */
  readonly store?: Store;
  /** How every other process is seen. */
  readonly others?: Liveness;
}

/** Media jobs on a real store, with the works of the service, whose children are held. */
export async function mediaJobsFixture(options: FixtureOptions = {}): Promise<MediaJobsFixture> {
  const clock = manualClock();
  const store = options.store ?? (await newStore(clock));
  const { self } = systemProcesses();
  const processes = { self, liveness: () => options.others ?? 'alive' };
  const deps = { clock, random: systemRandom, store, processes };
  const sources = mediaSources(deps);
  const { ownership } = createOperations(deps);
  const events: ServiceEvent[] = [];
  const report = (event: ServiceEvent): void => void events.push(event);
  const { run, ...children } = heldChildren();
  const faults = createFaults([]);
  const types = { speech: NO_SPEECH, ...createMediaJobs({ ...deps, media: { ...sources, run } }) };
  const jobs = new Jobs({ ...deps, ownership, faults, types, report, maxConcurrent: 1 });
  onTestFinished(() => jobs.close(0, AbortSignal.abort()));
  const folderOf = (id: string): string => sources.folder.pathOf(id, '.');
  return {
    ...children,
    jobs,
    store,
    clock,
    events,
    request: requestOf,
    accept: (...kinds) =>
      kinds.map((kind) => {
        const request = requestOf(kind);
        jobs.accept(request);
        return request.id;
      }),
    rowOf: (id) => store.read((db) => db.get('SELECT * FROM job WHERE id = ?', [id])),
    credits: () => store.read((db) => amountsIn(db, ACCOUNT, 'available')).credits,
    async put(id, ...names) {
      await mkdir(folderOf(id), { recursive: true });
      await Promise.all(names.map((name) => writeFile(join(folderOf(id), name), name)));
    },
    async filesOf(id) {
      const names = await readdir(folderOf(id));
      return names.sort();
    },
  };
}

const NO_SPEECH: JobType = {
  work: () => Promise.reject(new Error('there is no speech here')),
  describeFailure: () => undefined,
};

function requestOf(kind: StoredMediaKind, id = systemRandom.uuid()): MediaJobRequest {
  return {
    id,
    accountId: ACCOUNT,
    endpoint: 'createImageJob',
    idempotencyKey: undefined,
    fingerprint: id,
    requestId: id,
    kind,
    order: ORDERS[kind],
    answer: {},
    charge: { credits: PRICE, quota: 0 },
  };
}

async function newStore(clock: ManualClock): Promise<Store> {
  const store = await openStore({ dataDir: await temporaryFolder(), clock, files: systemFiles });
  onTestFinished(() => store.close());
  const allowance = { credits: CREDITS, quota: 0 };
  prepareAccounts(store, [ACCOUNT], { allowance, openingCredits: undefined, now: clock.now() });
  return store;
}

/** Children that write what they are to make when they are let go. */
function heldChildren(): Pick<MediaJobsFixture, 'begun' | 'endAll'> & { readonly run: RunTask } {
  const begun: string[] = [];
  const held = new Set<() => void>();
  const run: RunTask = async (task, order, { result, signal }) => {
    begun.push(task);
    const ended = new Promise<void>((resolve) => {
      held.add(resolve);
    });
    await abortable(ended, signal);
    await writeFile(String(Object(order).output), 'made');
    const made: unknown = task === 'align-sound' ? { audioCodec: 'aac', bytes: 4 } : null;
    if (Check(result, made)) return made;
    throw new TypeError(`a child that does ${task} gives something else`);
  };
  return {
    begun,
    run,
    endAll() {
      for (const end of held) end();
      held.clear();
    },
  };
}
