import { EngineError } from '../speech-engine.ts';

/** What others need of engine processes: speak with those that were added, and inspect new ones. */
export { inspectEngine } from './inspect-engine.ts';
export { engineLauncher } from './launch-engine.ts';
export { createProcessEngine } from './process-engine.ts';

export function isEngineError(error: unknown): error is EngineError {
  return error instanceof EngineError;
}
