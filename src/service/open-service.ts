import { networkInterfaces } from 'node:os';
import { system } from '../system/system.ts';
import { createAudioFolder } from './speech/audio-files.ts';
import { encodeSpeech } from './engine/encode/encode-speech.ts';
import type { EngineRegistry } from './engine/speech-engine.ts';
import { ownHosts } from './http/guard.ts';
import type { Metrics } from './http/metrics.ts';
import { hearInThread } from './voices/listen/listening-thread.ts';
import { startServer } from './http/serve.ts';
import { systemMedia } from './media/media-service.ts';
import type { AccountKey, OpenServiceOptions, RunningService } from './running-service.ts';
import { createService } from './service.ts';
import type { EncodeSpeech } from './speech/encode.ts';
import { openStore } from './store/open-store.ts';
import { createTemporaryFolder } from './http/multipart-form.ts';
import { LISTENER_WORKER_FILE } from './worker-file.ts';

const DEFAULT_ACCOUNT = 'local';
const DEFAULT_ALLOWANCE = { credits: 1_000_000, quota: 1_000_000 };

/**
 * Opens the database, creates the service and starts to listen.
 * @param wrapEncoder returns the encoder of the service, given the one of this process
 * @throws StoreError when the data directory cannot be used
 * @throws ListenError when listening fails
 */
export async function openWithEngines(
  options: OpenServiceOptions & { readonly metrics?: Metrics | undefined },
  engines: EngineRegistry,
  wrapEncoder: (encode: EncodeSpeech) => EncodeSpeech,
): Promise<RunningService> {
  const { clock = system.clock, host = '127.0.0.1', port = 0, random = system.random } = options;
  const { keys: [key = randomKey(random.bytes(24)), ...otherKeys] = [] } = options;
  const { allowHosts = [], allowOrigins = [], unavailableModels = [] } = options;
  const { allowance = DEFAULT_ALLOWANCE, report = () => undefined } = options;
  const injected = { ...system, clock, random };
  const store = await openStore({ ...injected, dataDir: options.dataDir });
  try {
    const service = createService({
      ...options,
      clock,
      random,
      store,
      engines,
      encode: wrapEncoder(encodeSpeech),
      audio: createAudioFolder(store.path, injected),
      media: systemMedia({ system: injected, databasePath: store.path, host, allowHosts }),
      uploads: createTemporaryFolder(store.path, injected),
      hearRecordings: hearInThread({ workerFile: LISTENER_WORKER_FILE, clock }),
      processes: system.processes,
      keys: [key, ...otherKeys],
      allowance,
      allowHosts: [...ownHosts(host, networkInterfaces), ...allowHosts],
      allowOrigins,
      unavailableModels,
      report,
    });
    const invitation = service.invite();
    const server = await startServer({ service, host, port, clock, random }).catch(
      async (error: unknown) => {
        // The service may have resumed jobs.
        await service.close(AbortSignal.abort());
        throw error;
      },
    );
    const { baseUrl, realtimeUrl } = server;
    return {
      baseUrl,
      realtimeUrl,
      apiKey: key.key,
      setFaults: (rules) => service.setFaults(rules),
      pageLink: invitation === undefined ? undefined : `${baseUrl}/#${invitation}`,
      async close(hurry) {
        await server.close(hurry);
        store.close();
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

// For the default account; the prefix identifies a key of the embedded service.
function randomKey(bytes: Uint8Array): AccountKey {
  return {
    key: `foley-local-${Buffer.from(bytes).toString('base64url')}`,
    account: DEFAULT_ACCOUNT,
  };
}
