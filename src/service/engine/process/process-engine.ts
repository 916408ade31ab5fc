import type { EngineRegistration } from '../../../contract/schemas/engine.ts';
import { type Clock, systemClock } from '../../../effects/clock.ts';
import {
  EngineError,
  type EngineRequest,
  type EngineVoice,
  type SpeechChunk,
  type SpeechEngine,
} from '../speech-engine.ts';
import { untilAborted } from './deadline.ts';
import { EngineProcess, type Speech } from './engine-process.ts';
import type { LaunchEngine } from './launch-engine.ts';
import { ProcessPool } from './process-pool.ts';

/** A voice of an engine process. */
export interface ProcessVoice extends EngineVoice {
  /** Name for people. */
  readonly name: string;
  readonly words: boolean;
}

export interface ProcessEngine extends SpeechEngine {
  readonly voices: readonly ProcessVoice[];
}

export interface ProcessEngineOptions {
  /** The engine as it was added; its voices are offered without asking it again. */
  readonly registration: EngineRegistration;
  /** How its process is started: `engineLauncher`. */
  readonly launch: LaunchEngine;
  /**
   * How many processes may run, and so how many requests be spoken, at the same time.
   * @default 2
   */
  readonly processes?: number;
  readonly clock?: Clock;
}

/**
 * An engine in processes of its own, which speak the protocol of docs/engines.md. A process is
 * started for the first request, speaks one at a time, and is ended when it has been idle for five
 * minutes. None keeps this process alive but while it speaks. Speed and pitch are limited by the
 * engine itself.
 */
export function createProcessEngine(options: ProcessEngineOptions): ProcessEngine {
  const { registration, launch, processes = 2, clock = systemClock } = options;
  const start = (): EngineProcess => new EngineProcess({ command: registration, launch, clock });
  const pool = new ProcessPool({ limit: processes, start, clock });
  return {
    name: registration.name,
    voices: registration.voices.map(({ name, pitch = false, words = false, ...voice }) => ({
      ...voice,
      name: name ?? voice.id,
      pitch,
      words,
    })),
    warmUp: () => pool.warmUp(),
    synthesize: (request, signal) => speak({ pool, registration }, request, signal),
    close: () => pool.close(),
  };
}

interface Speaker {
  readonly pool: ProcessPool;
  readonly registration: EngineRegistration;
}

async function* speak(
  { pool, registration }: Speaker,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  signal.throwIfAborted();
  const sampleRate = sampleRateOf(registration, request.voice);
  const engine = await pool.take(signal);
  let speech: Speech | undefined;
  try {
    const { voices } = await untilAborted(engine.ready, signal);
    const told = voices.find(({ id }) => id === request.voice);
    if (told?.sampleRate !== sampleRate) throw hasChanged(registration.name, request.voice);
    speech = engine.speak(request, sampleRate);
    for (;;) {
      const next = await untilAborted(speech.next(), signal);
      if (next.done === true) return;
      yield next.value;
      signal.throwIfAborted();
    }
  } finally {
    void pool.giveBack(engine, speech);
  }
}

function sampleRateOf({ name, voices }: EngineRegistration, id: string): number {
  const voice = voices.find((one) => one.id === id);
  if (voice === undefined)
    throw new EngineError('failed', `The engine ${name} has no voice ${id}.`);
  return voice.sampleRate;
}

function hasChanged(name: string, voice: string): EngineError {
  return new EngineError(
    'failed',
    `The engine ${name} is not what it was when it was added: its voice ${voice} is gone or has another sample rate. Add it again.`,
  );
}
