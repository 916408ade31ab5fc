import type { EngineCommand, EngineDescription } from '../../../contract/engine.ts';
import { type Clock, systemClock } from '../../../effects/clock.ts';
import { EngineError } from '../speech-engine.ts';
import { untilAborted } from './deadline.ts';
import { EngineProcess, type Speech } from './engine-process.ts';
import type { LaunchEngine } from './launch-engine.ts';

export interface InspectOptions {
  readonly launch: LaunchEngine;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/**
 * Starts an engine, hears its greeting, has its first voice say a few numbers, and ends it. A voice
 * that has no words for numbers is good enough: it says so.
 * @throws EngineError with what is wrong, for the author of the engine
 */
export async function inspectEngine(
  command: EngineCommand,
  { launch, clock = systemClock, signal = new AbortController().signal }: InspectOptions,
): Promise<EngineDescription> {
  const engine = new EngineProcess({ command, launch, clock });
  engine.keepAlive(true);
  try {
    const description = await untilAborted(engine.ready, signal);
    refuseTwins(command, description);
    await trySpeech(engine, description, signal);
    return description;
  } finally {
    if (signal.aborted) engine.kill();
    await engine.end();
  }
}

/** Said the same way, or not at all, in every language. */
const SAMPLE_TEXT = '1, 2, 3.';

async function trySpeech(
  engine: EngineProcess,
  { voices: [voice] }: EngineDescription,
  signal: AbortSignal,
): Promise<void> {
  if (voice === undefined) return;
  const request = { text: SAMPLE_TEXT, voice: voice.id, speed: 1, pitch: 0 };
  const speech: Speech = engine.speak(request, voice.sampleRate);
  try {
    while ((await untilAborted(speech.next(), signal)).done !== true);
  } catch (error) {
    if (!(error instanceof EngineError) || error.reason !== 'unspeakable') throw error;
  }
}

function refuseTwins({ name }: EngineCommand, { voices }: EngineDescription): void {
  const ids = voices.map(({ id }) => id);
  const twin = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twin === undefined) return;
  throw new EngineError('failed', `The engine ${name} has two voices with the id ${twin}.`);
}
