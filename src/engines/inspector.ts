import type { EngineCommand } from '../contract/engine.ts';
import { stateFailure } from '../durable/file-failures.ts';
import type { RuleReport } from './conformance.ts';
import type { EngineDeps } from './engines.ts';
import type { System } from '../system/system.ts';

const PROCESSES = 'the processes of engines';

interface InspectorDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly system: System;
  readonly signal: AbortSignal;
}

/**
 * Returns a function that starts an engine and checks that it follows the engine protocol. Uses the same code as the
 * embedded service.
 */
export function engineInspector({
  env,
  signal,
  system: { clock },
}: InspectorDeps): EngineDeps['inspect'] {
  return async (command) => {
    const [{ engineLauncher }, { inspectEngine }, { EngineError }] = await Promise.all([
      import('../service/engine/process/launch-engine.ts'),
      import('./inspect-engine.ts'),
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

/**
 * Ends the engine processes that keep running between commands (docs/engines.md#processes-between-commands).
 * @param folder contains the sockets of these processes
 * @param name ends only the processes of this engine; undefined for all engines
 * @param isNow true to end the processes at once; false to let running requests finish first
 * @returns the engine name of each process that was asked to end
 * @throws Failure of kind `state` if the folder cannot be used
 */
export async function stopEngines(
  folder: string,
  name: string | undefined,
  isNow: boolean,
): Promise<readonly string[]> {
  const { stopHosts } = await import('../service/engine/resident/host-protocol.ts');
  try {
    return await stopHosts(folder, name, isNow);
  } catch (error) {
    throw stateFailure(PROCESSES, folder, error);
  }
}

/** Returns the names of the engines whose processes keep running between commands. Throws like {@link stopEngines}. */
export async function residentEngines(folder: string): Promise<readonly string[]> {
  const { listHosts } = await import('../service/engine/resident/host-protocol.ts');
  try {
    return await listHosts(folder);
  } catch (error) {
    throw stateFailure(PROCESSES, folder, error);
  }
}

/**
 * Tests an engine against each rule of the protocol (docs/engines.md#test-your-engine).
 * @param onProgress called with a short description of the current step
 */
export async function testEngine(
  command: EngineCommand,
  { env, signal, system: { clock } }: InspectorDeps,
  onProgress: (step: string) => void,
): Promise<readonly RuleReport[]> {
  const [{ engineLauncher }, { testEngine: test }] = await Promise.all([
    import('../service/engine/process/launch-engine.ts'),
    import('./conformance.ts'),
  ]);
  const launch = engineLauncher({ env, nodePath: process.execPath });
  const reports: RuleReport[] = [];
  for await (const report of test(command, { launch, clock, signal, onProgress })) {
    reports.push(report);
  }
  return reports;
}
