import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { EngineRegistration, EngineVoiceRecord } from '../../../../src/contract/engine.ts';
import type {
  EngineChild,
  LaunchEngine,
} from '../../../../src/service/engine/process/launch-engine.ts';
import { engineLauncher } from '../../../../src/service/engine/process/launch-engine.ts';
import { createProcessEngine } from '../../../../src/service/engine/process/process-engine.ts';
import type {
  EngineRequest,
  SpeechChunk,
  SpeechEngine,
  WordMark,
} from '../../../../src/service/engine/speech-engine.ts';
import { concatSamples } from '../../../../src/audio/resample.ts';
import type { ManualClock } from '../../../api/manual-clock.ts';
import { manualClock } from '../../../api/manual-clock.ts';

export const MORSE = fileURLToPath(
  new URL('../../../../examples/engine/morse.mjs', import.meta.url),
);
export const SECOND = fileURLToPath(new URL('engines/second.mjs', import.meta.url));
export const MISBEHAVING = fileURLToPath(new URL('engines/misbehaving.mjs', import.meta.url));

export const VOICE: EngineVoiceRecord = { id: 'v', language: 'en', sampleRate: 16_000 };
export const MORSE_VOICE: EngineVoiceRecord = {
  ...VOICE,
  id: 'key',
  sampleRate: 8_000,
  pitch: true,
  words: true,
  textNormalization: true,
};

export interface UnderTest {
  readonly engine: SpeechEngine;
  readonly clock: ManualClock;
  /** Every process that was started. */
  readonly children: readonly EngineChild[];
}

/** How an engine is started, with a voice that it is said to have. */
export function registrationOf(
  args: readonly string[],
  voice: EngineVoiceRecord = VOICE,
): EngineRegistration {
  return {
    name: 'tested',
    command: 'node',
    args: [...args],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    version: '1',
    license: 'MIT',
    voices: [voice],
  };
}

/** Starts processes as foley does, and keeps account of them; they end with the test. */
export function recordingLauncher(
  env: Readonly<Record<string, string | undefined>> = process.env,
): { readonly launch: LaunchEngine; readonly children: EngineChild[] } {
  const children: EngineChild[] = [];
  const launch = engineLauncher({ env, nodePath: process.execPath });
  onTestFinished(() => children.forEach((child) => child.kill('SIGKILL')));
  return {
    children,
    launch(command) {
      const child = launch(command);
      children.push(child);
      return child;
    },
  };
}

export interface UnderTestOptions {
  readonly voice?: EngineVoiceRecord;
  readonly processes?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Fields that `foley engine add` stored. */
  readonly added?: Partial<EngineRegistration>;
}

/** An engine in real processes on a clock that the test moves. */
export function underTest(args: readonly string[], options: UnderTestOptions = {}): UnderTest {
  const { voice = VOICE, processes = 1, env, added } = options;
  const clock = manualClock();
  const { launch, children } = recordingLauncher(env);
  const registration = { ...registrationOf(args, voice), ...added };
  const engine = createProcessEngine({ registration, launch, processes, clock });
  return { engine, clock, children };
}

/** An engine that breaks one rule. */
export function misbehaving(behaviour: string, options?: UnderTestOptions): UnderTest {
  return underTest([MISBEHAVING, behaviour], options);
}

/** An engine of version 2. @param fields of its greeting, which foley stored */
export function second(
  fields: Partial<EngineRegistration> = {},
  behaviour = 'speaks in turns',
  options: UnderTestOptions = {},
): UnderTest {
  const args = [SECOND, JSON.stringify(fields), behaviour];
  const voice = { ...VOICE, controls: [] };
  const models = [{ id: 'local-tested' }];
  const added = { protocol: 2, models, voices: [voice], ...fields, ...options.added };
  return underTest(args, { ...options, added });
}

/** The speech of a request from its first chunk on. */
export function speak(
  engine: SpeechEngine,
  request: Partial<EngineRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): AsyncIterator<SpeechChunk> {
  const voice = engine.voices[0]?.id ?? '';
  const full = { text: 'Hello there.', voice, speed: 1, pitch: 0, ...request };
  return engine.synthesize(full, signal)[Symbol.asyncIterator]();
}

export interface Spoken {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly words: readonly WordMark[];
  readonly chunks: number;
}

/** Everything that a request says. */
export async function wholeSpeech(
  engine: SpeechEngine,
  request: Partial<EngineRequest> = {},
): Promise<Spoken> {
  const speech = speak(engine, request);
  const parts: SpeechChunk[] = [];
  for (;;) {
    const next = await speech.next();
    if (next.done === true) break;
    parts.push(next.value);
  }
  const samples = concatSamples(parts.map((part) => part.samples));
  const words = parts.flatMap((part) => part.words ?? []);
  return { samples, sampleRate: parts[0]?.sampleRate ?? 0, words, chunks: parts.length };
}

/** Resolves when a limit of so many milliseconds runs on the clock. */
export async function untilRunning(clock: ManualClock, ms: number): Promise<void> {
  while (!clock.running().includes(ms)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
