import type { Processes } from '../system/processes.ts';
import type { EngineRegistry } from './engine/speech-engine.ts';
import type { Faults } from './http/faults.ts';
import type { Metrics } from './http/metrics.ts';
import type { TemporaryFolder } from './http/multipart-form.ts';
import { Jobs } from './jobs/job-service.ts';
import { createSignedLinks } from './jobs/signed-links.ts';
import { createSpeechJobs } from './jobs/speech-jobs.ts';
import { createRateLimit } from './ledger/accounts.ts';
import type { MediaSources } from './media/media-jobs.ts';
import { createMediaJobs } from './media/media-jobs.ts';
import { createMedia } from './media/media-service.ts';
import { Creates } from './operations/creates.ts';
import { createOperations } from './operations/operations.ts';
import { createRealtime } from './realtime/realtime-service.ts';
import type { ServiceSettings } from './running-service.ts';
import type { AudioFolder } from './speech/audio-files.ts';
import { createCachedSpeech } from './speech/cached-speech.ts';
import type { EncodeSpeech } from './speech/encode.ts';
import { createGenerations } from './speech/generations.ts';
import type { SpeechContext } from './speech/speak.ts';
import { SpeechQueue } from './speech/speak.ts';
import type { Store } from './store/open-store.ts';
import { createAliases } from './voices/aliases.ts';
import { createCatalogue } from './voices/catalogue.ts';
import { Designs } from './voices/designs.ts';
import type { HearRecordings } from './voices/listen/listening-thread.ts';
import { PersonalVoices } from './voices/personal-voices.ts';
import { VoiceMaker } from './voices/voice-maker.ts';

/** The settings of a service, and its access to the operating system. */
export interface ServiceDeps extends ServiceSettings {
  readonly store: Store;
  readonly engines: EngineRegistry;
  readonly encode: EncodeSpeech;
  readonly audio: AudioFolder;
  readonly media: MediaSources;
  /** Stores uploaded files temporarily, while they are checked. */
  readonly uploads: TemporaryFolder;
  /** Measures the pitches of uploaded reference audio. */
  readonly hearRecordings: HearRecordings;
  readonly processes: Processes;
  readonly metrics?: Metrics | undefined;
}

/** The components of a service that the request handlers use. */
export type ServiceContext = ReturnType<typeof createContext>;

/** Creates the components of a service. */
export function createContext(deps: ServiceDeps, faults: Faults) {
  const { clock, store, random, encode, audio, report } = deps;
  const operations = createOperations(deps);
  const personalVoices = new PersonalVoices(store);
  const voiceMaker = new VoiceMaker(deps);
  const catalogue = createCatalogue(deps, personalVoices);
  const links = createSignedLinks(deps);
  const speech: SpeechContext = {
    clock,
    store,
    catalogue,
    operations,
    generations: createGenerations(clock),
    speechQueue: new SpeechQueue(deps),
    encode,
    report,
  };
  const rateLimit = createRateLimit(deps);
  const types = { speech: createSpeechJobs(deps, catalogue), ...createMediaJobs(deps) };
  const { ownership } = operations;
  const { maxConcurrent } = deps.engines;
  return {
    ...speech,
    aliases: createAliases(deps, catalogue),
    personalVoices,
    voiceMaker,
    designs: new Designs(deps),
    uploads: deps.uploads,
    creates: new Creates(deps, operations),
    jobs: new Jobs({ clock, random, store, report, ownership, faults, types, maxConcurrent }),
    audio,
    cachedSpeech: createCachedSpeech(deps),
    links,
    media: createMedia(deps, links),
    rateLimit,
    realtime: createRealtime(speech, deps, rateLimit),
  };
}
