import type { Clock } from '../effects/clock.ts';
import type { EngineDeps } from './engines.ts';

/** Returns a function that starts an engine and tests its protocol, using the same code as the service. */
export function engineInspector({
  env,
  clock,
  signal,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): EngineDeps['inspect'] {
  return async (command) => {
    const [{ engineLauncher }, { inspectEngine }, { EngineError }] = await Promise.all([
      import('../service/engine/process/launch-engine.ts'),
      import('../service/engine/process/inspect-engine.ts'),
      import('../service/engine/speech-engine.ts'),
    ]);
    const launch = engineLauncher({ env, nodePath: process.execPath });
    try {
      return {
        isSound: true,
        description: await inspectEngine(command, { launch, clock, signal }),
      };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const detail = error.cause instanceof Error ? error.cause.message : undefined;
      return { isSound: false, fault: error.message, detail };
    }
  };
}
