import { networkInterfaces } from 'node:os';
import { systemClock } from '../effects/clock.ts';
import { systemFiles } from '../effects/file-system.ts';
import { systemRandom } from '../effects/random.ts';
import { createAudioFolder } from './speech/audio-files.ts';
import { encodeSpeech } from './engine/encode/encode-speech.ts';
import type { EngineRegistry } from './engine/speech-engine.ts';
import { ownHosts } from './http/guard.ts';
import { hearInThread } from './voices/listen/listening-thread.ts';
import type { ServiceServer } from './http/serve.ts';
import { startServer } from './http/serve.ts';
import { systemMedia } from './media/media.ts';
import { systemProcesses } from '../effects/processes.ts';
import type { AccountKey, OpenServiceOptions, RunningService } from './running-service.ts';
import type { Service } from './service.ts';
import { createService } from './service.ts';
import type { Store } from './store/open-store.ts';
import { openStore } from './store/open-store.ts';
import { createTemporaryFolder } from './http/multipart-form.ts';
import { LISTENER_WORKER_FILE } from './worker-file.ts';

const DEFAULT_ACCOUNT = 'local';
const DEFAULT_ALLOWANCE = { credits: 1_000_000, quota: 1_000_000 };

/**
 * Opens the store, makes the service over it and the engines, and starts to listen.
 * @throws StoreError when the data directory cannot be used
 * @throws ListenError when the address cannot be listened on
 */
export async function openWithEngines(
  options: OpenServiceOptions,
  engines: EngineRegistry,
): Promise<RunningService> {
  const { clock = systemClock, random = systemRandom } = options;
  const { keys: [key = randomKey(random.bytes(24)), ...otherKeys] = [] } = options;
  const store = await openStore({ dataDir: options.dataDir, clock, files: systemFiles });
  try {
    const keys = [key, ...otherKeys];
    const service = serviceOver({ ...options, clock, random, keys }, store, engines);
    const server = await listen(service, options, { clock, random });
    return running(server, { store, key, invitation: service.invite() });
  } catch (error) {
    store.close();
    throw error;
  }
}

type Effects = Required<Pick<OpenServiceOptions, 'clock' | 'random'>>;

/** What a service that cannot be reached has begun, such as a job that it found, is given back. */
async function listen(
  service: Service,
  { host = '127.0.0.1', port = 0 }: OpenServiceOptions,
  effects: Effects,
): Promise<ServiceServer> {
  try {
    return await startServer({ service, host, port, ...effects });
  } catch (error) {
    await service.close(AbortSignal.abort());
    throw error;
  }
}

function serviceOver(
  options: OpenServiceOptions & Effects & { readonly keys: readonly AccountKey[] },
  store: Store,
  engines: EngineRegistry,
): Service {
  const { clock, host = '127.0.0.1', random } = options;
  const { faults, graceMs, hasPage, maxWaiting, openingCredits, requestsPerSecond } = options;
  const { allowHosts = [], verifiesWholeLedger } = options;
  const fileDeps = { clock, random, files: systemFiles, platform: process.platform };
  return createService({
    clock,
    random,
    store,
    engines,
    encode: encodeSpeech,
    audio: createAudioFolder(store.path, fileDeps),
    media: systemMedia({ ...fileDeps, databasePath: store.path, host, allowHosts }),
    uploads: createTemporaryFolder(store.path, { files: systemFiles, random }),
    hearFiles: hearInThread({ workerFile: LISTENER_WORKER_FILE, clock }),
    processes: systemProcesses(),
    keys: options.keys,
    allowance: options.allowance ?? DEFAULT_ALLOWANCE,
    allowHosts: [...ownHosts(host, networkInterfaces), ...allowHosts],
    allowOrigins: options.allowOrigins ?? [],
    unavailableModels: options.unavailableModels ?? [],
    faults,
    graceMs,
    hasPage,
    maxWaiting,
    openingCredits,
    requestsPerSecond,
    verifiesWholeLedger,
    report: options.report ?? (() => undefined),
  });
}

interface Opened {
  readonly store: Store;
  readonly key: AccountKey;
  /** What the address of the page ends in. */
  readonly invitation: string | undefined;
}

function running(server: ServiceServer, { invitation, key, store }: Opened): RunningService {
  const { baseUrl, realtimeUrl } = server;
  return {
    baseUrl,
    realtimeUrl,
    apiKey: key.key,
    pageLink: invitation === undefined ? undefined : `${baseUrl}/#${invitation}`,
    async close(hurry) {
      await server.close(hurry);
      store.close();
    },
  };
}

/** A key of this service; its form says that it is worth nothing anywhere else. */
function randomKey(bytes: Uint8Array): AccountKey {
  return {
    key: `foley-local-${Buffer.from(bytes).toString('base64url')}`,
    account: DEFAULT_ACCOUNT,
  };
}
