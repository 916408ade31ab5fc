import { BUILT_IN_ENGINE } from '../contract/engine.ts';
import type { SpeechEngine } from './engine/speech-engine.ts';
import type { Metrics } from './http/metrics.ts';
import type { ListenError } from './http/serve.ts';
import type { OpenServiceOptions, RunningService, ServiceEvent } from './running-service.ts';
import type { EncodeSpeech } from './speech/encode.ts';
import type { StoreError } from './store/open-store.ts';
import type { AliasError } from './voices/aliases.ts';

/**
 * Starts the embedded service. The built-in engine warms up in a thread while other modules load.
 * @throws StoreError when the data directory cannot be used, or a required package is missing
 * @throws ListenError when listening fails
 * @throws AliasError for an alias that cannot be used
 */
export async function openService(options: OpenServiceOptions): Promise<RunningService> {
  const { EngineRegistry } = await import('./engine/speech-engine.ts');
  const metrics = options.hasMetrics === true ? await loadMetrics(options) : undefined;
  const report = (event: ServiceEvent): void => {
    metrics?.count(event);
    options.report?.(event);
  };
  const { builtIn, wrapEncoder } = await builtInEngine(options, report);
  if (options.warmsUp !== false) void builtIn.warmUp();
  const added = await addedEngines(options, builtIn, report);
  const engines = new EngineRegistry([builtIn, ...added]);
  try {
    await requirePackages();
    const { openWithEngines } = await import('./open-service.ts');
    const observed = { ...options, report, metrics };
    const service = await openWithEngines(observed, engines, wrapEncoder);
    return {
      ...service,
      async close(hurry) {
        await service.close(hurry);
        await engines.close();
      },
    };
  } catch (error) {
    await engines.close();
    throw error;
  }
}

async function loadMetrics({ engines }: OpenServiceOptions): Promise<Metrics> {
  const { createMetrics } = await import('./http/metrics.ts');
  return createMetrics([BUILT_IN_ENGINE, ...(engines?.added ?? []).map(({ name }) => name)]);
}

type Report = (event: ServiceEvent) => void;

async function builtInEngine(
  { clock, engines }: OpenServiceOptions,
  report: Report,
): Promise<{
  readonly builtIn: SpeechEngine;
  /** Wraps the encoder of the service. */
  readonly wrapEncoder: (encode: EncodeSpeech) => EncodeSpeech;
}> {
  const [{ createHibariEngine }, { HIBARI_WORKER_FILE, speakingThreads }] = await Promise.all([
    import('./engine/hibari/engine.ts'),
    import('./worker-file.ts'),
  ]);
  const own = createHibariEngine({
    workerFile: HIBARI_WORKER_FILE,
    threads: speakingThreads(),
    onRestart: () => report({ type: 'engine-restarted', engine: BUILT_IN_ENGINE }),
  });
  if (engines?.resident === undefined) return { builtIn: own, wrapEncoder: (encode) => encode };
  const [{ createResidentEncoder, createResidentVoice }, { VoiceHost }] = await Promise.all([
    import('./engine/resident/resident-voice.ts'),
    import('./engine/resident/voice-host.ts'),
  ]);
  const { env, nodePath, resident } = engines;
  const host = new VoiceHost(own.name, { clock, env, nodePath, resident });
  return {
    builtIn: createResidentVoice(own, host),
    wrapEncoder: (encode) => createResidentEncoder(encode, host),
  };
}

// @throws StoreError `no_binary` if npm did not install the binary of libsql for this system
async function requirePackages(): Promise<void> {
  try {
    await import('./store/sqlite.ts');
  } catch (error) {
    const { StoreError } = await import('./store/open-store.ts');
    throw new StoreError('no_binary', 'libsql', 'libsql cannot be loaded', error);
  }
}

// The first request to an engine starts its process.
async function addedEngines(
  { clock, engines }: OpenServiceOptions,
  builtIn: SpeechEngine,
  report: Report,
): Promise<SpeechEngine[]> {
  if (engines === undefined || engines.added.length === 0) return [];
  const [{ engineLauncher }, { createProcessEngine }, { createResidentEngine }, { withWordTimes }] =
    await Promise.all([
      import('./engine/process/launch-engine.ts'),
      import('./engine/process/process-engine.ts'),
      import('./engine/resident/resident-engine.ts'),
      import('./engine/word-times.ts'),
    ]);
  const launch = engineLauncher(engines);
  const { env, nodePath, resident } = engines;
  const added = engines.added.map((registration) =>
    resident === undefined
      ? createProcessEngine({
          registration,
          launch,
          clock,
          onRestart: () => report({ type: 'engine-restarted', engine: registration.name }),
        })
      : createResidentEngine({ registration, launch, clock, resident, env, nodePath }),
  );
  return added.map((engine) => withWordTimes(engine, [builtIn, ...added]));
}

/**
 * Returns whether an error is a StoreError. Compares the names, so that the module of StoreError need not be loaded.
 */
export function isStoreError(error: unknown): error is StoreError {
  return error instanceof Error && error.name === 'StoreError';
}

/** Returns whether an error of `openService` means that it could not listen on the host and port. */
export function isListenError(error: unknown): error is ListenError {
  return error instanceof Error && error.name === 'ListenError';
}

/** Returns whether an error of `openService` means that an alias cannot be used. */
export function isAliasError(error: unknown): error is AliasError {
  return error instanceof Error && error.name === 'AliasError';
}
