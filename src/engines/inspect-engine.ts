import type { EngineCommand, EngineDescription } from '../contract/engine.ts';
import type { Clock } from '../system/clock.ts';
import { systemClock } from '../system/clock.ts';
import { abortable } from '../system/concurrency.ts';
import { EngineError } from '../service/engine/speech-engine.ts';
import { EngineProcess } from '../service/engine/process/engine-process.ts';
import type { LaunchEngine } from '../service/engine/process/launch-engine.ts';

export interface InspectOptions {
  readonly launch: LaunchEngine;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** A text for voices of any language. A voice must speak the text or report it as unspeakable. */
const SAMPLE_TEXT = '1, 2, 3.';

/**
 * Tests an engine: starts the process, reads the greeting, lets the first voice speak three numbers, and ends the
 * process. The engine also passes if it reports the numbers as unspeakable.
 * @throws EngineError with a message for the author of the engine
 */
export async function inspectEngine(
  command: EngineCommand,
  { launch, clock = systemClock, signal = new AbortController().signal }: InspectOptions,
): Promise<EngineDescription> {
  const engine = new EngineProcess(command, { launch, clock });
  engine.keepAlive(true);
  try {
    const description = await abortable(engine.ready, signal);
    requireUniqueIds(command.name, description);
    const [voice] = description.voices;
    if (voice !== undefined) {
      const request = { text: SAMPLE_TEXT, voice: voice.id, speed: 1, pitch: 0 };
      const { chunks } = engine.speak(request, voice.sampleRate);
      while ((await abortable(chunks.next(), signal)).done !== true);
    }
    return description;
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'unspeakable') return engine.ready;
    throw error;
  } finally {
    if (signal.aborted) engine.kill();
    await engine.end();
  }
}

function requireUniqueIds(engine: string, { models = [], voices }: EngineDescription): void {
  for (const [what, list] of [['voices', voices] as const, ['models', models] as const]) {
    const ids = list.map(({ id }) => id);
    const twin = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twin === undefined) continue;
    throw new EngineError('failed', `The engine ${engine} has two ${what} with the id ${twin}.`);
  }
}
