import { fileURLToPath } from 'node:url';
import type { EngineCommand } from '../../../src/contract/engine.ts';
import { engineLauncher } from '../../../src/service/engine/process/launch-engine.ts';
import { inspectEngine } from '../../../src/engines/inspect-engine.ts';
import type { SpeechEngine } from '../../../src/service/engine/speech-engine.ts';
import { createProcessEngine } from '../../../src/service/engine/process/process-engine.ts';

export const ADAPTERS = fileURLToPath(new URL('../../../engines/', import.meta.url));

export const COMMAND: EngineCommand = {
  name: 'espeak-ng',
  command: 'node',
  args: ['espeak-ng/engine.mjs'],
  cwd: ADAPTERS,
};

export const launch = engineLauncher({ env: process.env, nodePath: process.execPath });

/** espeak-ng as a user has it after `foley engine add espeak-ng`. */
export async function espeakEngine(): Promise<SpeechEngine> {
  const registration = { ...COMMAND, ...(await inspectEngine(COMMAND, { launch })) };
  return createProcessEngine({ registration, launch, processes: 1 });
}
