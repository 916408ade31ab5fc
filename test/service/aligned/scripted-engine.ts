import { abortable } from '../../../src/system/concurrency.ts';
import type {
  EngineRequest,
  SpeechChunk,
  SpeechEngine,
} from '../../../src/service/engine/speech-engine.ts';
import { EngineError } from '../../../src/service/engine/speech-engine.ts';

/** What a scripted engine does next: says something, waits for something, or breaks. */
export type Step =
  | (Pick<SpeechChunk, 'words' | 'span'> & { readonly ms: number })
  | { readonly until: Promise<void> }
  | 'break'
  | 'nothing to say';

export interface ScriptedEngine extends SpeechEngine {
  readonly requests: readonly EngineRequest[];
  /** How many steps were begun. */
  readonly stepsMade: () => number;
  /** How many texts are being spoken. */
  readonly speaking: () => number;
}

const SAMPLE_RATE = 16_000;

/** An engine that speaks every text as the script says, a tone for so many milliseconds each. */
export function scriptedEngine(script: readonly Step[]): ScriptedEngine {
  const requests: EngineRequest[] = [];
  let made = 0;
  let speaking = 0;
  async function* synthesize(request: EngineRequest, signal: AbortSignal) {
    requests.push(request);
    speaking += 1;
    try {
      for (const step of script) {
        signal.throwIfAborted();
        made += 1;
        if (step === 'break')
          throw new EngineError('failed', 'The engine broke.', 'The secret inside of it.');
        if (step === 'nothing to say') throw new EngineError('unspeakable', 'No word in it.');
        if ('until' in step) await abortable(step.until, signal);
        else yield chunkOf(step);
      }
    } finally {
      speaking -= 1;
    }
  }
  return {
    name: 'hibari',
    voices: [{ id: 'clara', language: 'en-US', sampleRate: SAMPLE_RATE, pitch: true, words: true }],
    requests,
    stepsMade: () => made,
    speaking: () => speaking,
    async warmUp() {},
    synthesize,
    async close() {},
  };
}

function chunkOf({ ms, ...told }: Extract<Step, { ms: number }>): SpeechChunk {
  const samples = Float32Array.from(
    { length: (ms * SAMPLE_RATE) / 1000 },
    (_, at) => 0.1 * Math.sin(at / 10),
  );
  return { samples, sampleRate: SAMPLE_RATE, ...told };
}
