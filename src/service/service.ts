import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import { prepareAccounts, createRateLimit } from './ledger/accounts.ts';
import type { Answering } from './answer-requests.ts';
import { answerRequests } from './answer-requests.ts';
import type { Amounts } from './ledger/ledger.ts';
import { verifyLedger } from './ledger/ledger.ts';
import { createCachedSpeech } from './speech/cached-speech.ts';
import { createCatalogue } from './voices/catalogue.ts';
import type { EngineRegistry } from './engine/speech-engine.ts';
import type { FaultRule, Faults } from './http/faults.ts';
import { createFaults } from './http/faults.ts';
import type { GuardOptions } from './http/guard.ts';
import type { AudioFolder } from './speech/audio-files.ts';
import { Jobs } from './jobs/jobs.ts';
import { createSpeechJobs } from './jobs/speech-jobs.ts';
import { createSignedLinks } from './jobs/signed-links.ts';
import type { MediaSources } from './media/media.ts';
import { createMedia } from './media/media.ts';
import { createMediaJobs } from './media/media-jobs.ts';
import { Creates } from './operations/creates.ts';
import { createOperations } from './operations/operations.ts';
import { createPersonalVoices } from './voices/personal-voices.ts';
import { VoiceMaker } from './voices/voice-maker.ts';
import type { HearFiles } from './voices/listen/listening-thread.ts';
import type { Processes } from '../effects/processes.ts';
import type { Realtime } from './realtime/realtime.ts';
import { createRealtime } from './realtime/realtime.ts';
import type { AccountKey, ServiceEvent } from './running-service.ts';
import type { ServiceContext } from './service-context.ts';
import type { EncodeSpeech } from './speech/encode.ts';
import { createGenerations, SpeechQueue } from './speech/speak.ts';
import type { Store } from './store/open-store.ts';
import type { TemporaryFolder } from './http/multipart-form.ts';
import { createDesigns } from './voices/designs.ts';

export interface ServiceDeps extends GuardOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly engines: EngineRegistry;
  readonly encode: EncodeSpeech;
  /** Where the audio of jobs is kept. */
  readonly audio: AudioFolder;
  readonly media: MediaSources;
  /** Where uploads are put while they are looked at. */
  readonly uploads: TemporaryFolder;
  /** Measures reference audio that was uploaded. */
  readonly hearFiles: HearFiles;
  readonly processes: Processes;
  readonly keys: readonly AccountKey[];
  /** What a new account is given, and an old one with less than half of it is brought back to. */
  readonly allowance: Amounts;
  /** Models that are declared and refused as unavailable. */
  readonly unavailableModels: readonly string[];
  /** As in `OpenServiceOptions`, and so are the following. */
  readonly openingCredits?: number | undefined;
  readonly requestsPerSecond?: number | undefined;
  readonly maxWaiting?: number | undefined;
  readonly faults?: readonly FaultRule[] | undefined;
  readonly verifiesWholeLedger?: boolean | undefined;
  readonly graceMs?: number | undefined;
  readonly hasPage?: boolean | undefined;
  readonly report: (event: ServiceEvent) => void;
}

/** The whole service as a function from a request to an answer. */
export interface Service extends Answering {
  /** Begins a realtime connection that was admitted; gives who hears of its socket. */
  open: Realtime['open'];
  /**
   * Refuses what comes, and finishes what runs. What is not finished in time, or before `hurry` is
   * aborted, is cut and refunded where it is an answer, and left to the next process where it is a job.
   */
  close(hurry?: AbortSignal): Promise<void>;
}

/** How long a service that closes waits for what is paid for. */
const GRACE_MS = 600_000;

/**
 * Creates the service: checks the ledger, refunds the operations of dead processes and resumes orphaned
 * jobs. The caller owns the store and the engines.
 * @throws StoreError when the ledger does not balance
 */
export function createService(deps: ServiceDeps): Service {
  prepare(deps);
  const faults = createFaults(deps.faults ?? []);
  const context = createContext(deps, faults);
  const { cachedSpeech, creates, designs, generations, jobs, media, operations, realtime } =
    context;
  operations.recover();
  jobs.start();
  // What cannot be removed now is removed later.
  void cachedSpeech.sweep().catch(() => undefined);
  void designs.sweep().catch(() => undefined);
  void realtime.requests.sweep().catch(() => undefined);
  void media.imports.sweep().catch(() => undefined);
  const closing = new AbortController();
  return {
    ...answerRequests(deps, context, faults, closing.signal),
    open: (admission, socket) => realtime.open(admission, socket),
    async close(hurry) {
      closing.abort();
      const { graceMs = GRACE_MS, report } = deps;
      media.imports.close();
      creates.close();
      const count = generations.size + realtime.size;
      if (count > 0) report({ type: 'finishing-answers', count });
      await Promise.all([
        generations.drain(graceMs, hurry),
        realtime.close(graceMs, hurry),
        jobs.close(graceMs, hurry),
      ]);
      operations.close();
    },
  };
}

function createContext(deps: ServiceDeps, faults: Faults): ServiceContext {
  const { clock, store, encode, audio: folder, report } = deps;
  const operations = createOperations(deps);
  const personalVoices = createPersonalVoices(store);
  const voiceMaker = new VoiceMaker(deps);
  const designs = createDesigns({ store, folder, clock });
  const catalogue = createCatalogue({ ...deps, madeVoices: personalVoices });
  const { ownership } = operations;
  const links = createSignedLinks(deps);
  const speechQueue = new SpeechQueue(deps);
  const rateLimit = createRateLimit({ store, clock, requestsPerSecond: deps.requestsPerSecond });
  const types = {
    speech: createSpeechJobs({ catalogue, encode, folder, report }),
    ...createMediaJobs({ ...deps, ...deps.media }),
  };
  return {
    clock,
    store,
    catalogue,
    personalVoices,
    voiceMaker,
    designs,
    designing: { ...deps, designs, voices: voiceMaker.voices },
    uploads: deps.uploads,
    operations,
    creates: new Creates({ store, clock, operations }),
    generations: createGenerations(clock),
    jobs: new Jobs({ ...deps, faults, ownership, types }),
    audio: folder,
    cachedSpeech: createCachedSpeech({ store, folder, clock }),
    links,
    media: createMedia({ ...deps, links, sources: deps.media }),
    rateLimit,
    speechQueue,
    realtime: createRealtime({ ...deps, catalogue, operations, rateLimit, speechQueue, folder }),
    encode,
    report,
  };
}

function prepare(deps: ServiceDeps): void {
  const { store, keys, allowance, openingCredits, clock, verifiesWholeLedger = false } = deps;
  const accounts = [...new Set(keys.map(({ account }) => account))];
  verifyLedger(store, { full: verifiesWholeLedger });
  prepareAccounts(store, accounts, { allowance, openingCredits, now: clock.now() });
}
