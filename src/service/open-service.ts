import { systemClock } from '../effects/clock.ts';
import { systemFiles } from '../effects/file-system.ts';
import { systemRandom } from '../effects/random.ts';
import { createAudioFolder } from './audio-files/audio-folder.ts';
import { encodeSpeech } from './engine/encode/encode-speech.ts';
import type { EngineRegistry } from './engine/registry.ts';
import type { ServiceServer } from './http/serve.ts';
import { startServer } from './http/serve.ts';
import { systemProcesses } from '../effects/processes.ts';
import type { AccountKey, OpenServiceOptions, RunningService } from './running-service.ts';
import { createService } from './service.ts';
import type { Store } from './store/open-store.ts';
import { openStore } from './store/open-store.ts';

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
  const [firstKey, ...otherKeys] = options.keys ?? [];
  const key = firstKey ?? randomKey(random.bytes(24));
  const store = await openStore({ dataDir: options.dataDir, clock, files: systemFiles });
  try {
    const service = createService({
      clock,
      random,
      store,
      engines,
      encode: encodeSpeech,
      audio: createAudioFolder(store.path, {
        clock,
        random,
        files: systemFiles,
        platform: process.platform,
      }),
      processes: systemProcesses(),
      keys: [key, ...otherKeys],
      allowance: options.allowance ?? DEFAULT_ALLOWANCE,
      allowHosts: options.allowHosts ?? [],
      allowOrigins: options.allowOrigins ?? [],
      unavailableModels: options.unavailableModels ?? [],
      jobGraceMs: options.jobGraceMs,
      report: options.report ?? (() => undefined),
    });
    const { host = '127.0.0.1', port = 0 } = options;
    const server = await startServer({ service, host, port, clock, random });
    return running(server, store, key);
  } catch (error) {
    store.close();
    throw error;
  }
}

function running(server: ServiceServer, store: Store, { key }: AccountKey): RunningService {
  const { baseUrl, realtimeUrl } = server;
  return {
    baseUrl,
    realtimeUrl,
    apiKey: key,
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
