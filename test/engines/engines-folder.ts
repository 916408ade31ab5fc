import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { EngineCommand, EngineDescription } from '../../src/contract/engine.ts';
import { systemClock } from '../../src/system/clock.ts';
import type { EngineDeps, EngineInspection } from '../../src/engines/engines.ts';
import { testSystem } from '../files/file-simulation.ts';

export const DESCRIPTION: EngineDescription = {
  version: '1.2.3',
  license: 'MIT',
  voices: [
    { id: 'a', name: 'A', language: 'de', sampleRate: 22_050, pitch: true, words: false },
    { id: 'b', name: 'B', language: 'pt-BR', sampleRate: 16_000, pitch: false, words: true },
  ],
};

/** How a program that speaks is started. */
export function commandOf(name: string): EngineCommand {
  return { name, command: 'python3', args: ['engine.py', '--model', 'x'], cwd: '/home/ada/mine' };
}

export interface EnginesFolder extends EngineDeps {
  /** What was inspected, in order. */
  readonly inspected: readonly EngineCommand[];
}

/** A folder of engines, which is deleted with the test; every engine is found to be this. */
export async function enginesFolder(
  inspection: EngineInspection = { isSound: true, description: DESCRIPTION },
): Promise<EnginesFolder> {
  const root = await mkdtemp(path.join(tmpdir(), 'foley-engines-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const inspected: EngineCommand[] = [];
  return {
    system: testSystem({ clock: { ...systemClock, sleep: () => setImmediate() } }),
    enginesFolder: path.join(root, 'state', 'engines'),
    modelsFolder: path.join(root, 'data', 'models'),
    signal: new AbortController().signal,
    onWait: () => undefined,
    inspected,
    async inspect(command) {
      inspected.push(command);
      return inspection;
    },
  };
}
