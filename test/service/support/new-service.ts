import { systemClock } from '../../../src/system/clock.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import { systemProcesses } from '../../../src/system/processes.ts';
import { systemRandom } from '../../../src/system/random.ts';
import { system } from '../../../src/system/system.ts';
import { encodeSpeech } from '../../../src/service/engine/encode/encode-speech.ts';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import { createTemporaryFolder } from '../../../src/service/http/multipart-form.ts';
import type { MediaSources } from '../../../src/service/media/media-jobs.ts';
import { systemMedia } from '../../../src/service/media/media-service.ts';
import type { ServiceDeps } from '../../../src/service/service-context.ts';
import type { Service } from '../../../src/service/service.ts';
import { createService } from '../../../src/service/service.ts';
import { createAudioFolder } from '../../../src/service/speech/audio-files.ts';
import { hearFiles } from '../../../src/service/voices/listen/hear-files.ts';
import { toneEngine } from './tone-engine.ts';

/** Creates a service on a store, with an engine of tones and an account that is rich, but for `deps`. */
export function newService(deps: Partial<ServiceDeps> & Pick<ServiceDeps, 'store'>): Service {
  const { clock = systemClock, random = systemRandom, store } = deps;
  return createService({
    clock,
    random,
    engines: new EngineRegistry([toneEngine()]),
    encode: encodeSpeech,
    audio: createAudioFolder(store.path, { ...system, clock, random }),
    // Uploads are measured without a thread of their own.
    hearRecordings: hearFiles,
    uploads: createTemporaryFolder(store.path, { files: systemFiles, random: systemRandom }),
    media: mediaSources({ clock, random, store }),
    processes: systemProcesses(),
    keys: [{ key: 'key', account: 'first' }],
    allowance: { credits: 1_000_000, quota: 1_000_000 },
    allowHosts: [],
    allowOrigins: [],
    unavailableModels: [],
    report: () => undefined,
    ...deps,
  });
}

/** Media as a service on loopback has them, beside its database. */
export function mediaSources({
  clock,
  random,
  store,
}: Pick<ServiceDeps, 'clock' | 'random'> & {
  readonly store: Pick<ServiceDeps['store'], 'path'>;
}): MediaSources {
  return systemMedia({
    system: { ...system, clock, random },
    databasePath: store.path,
    host: '127.0.0.1',
    allowHosts: [],
  });
}
