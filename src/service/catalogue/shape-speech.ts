import type { EngineRequest, SpeechChunk, SpeechEngine } from '../engine/speech-engine.ts';
import type { EngineSource } from './voices.ts';

/**
 * An engine that speaks with another melody and other resonances than its own. Resonances are moved by
 * playing the speech faster or slower than it was made: it is asked to be so much slower and lower, or
 * faster and higher, before. Without either it is the engine itself.
 */
export function shapeSpeech(
  engine: SpeechEngine,
  { melody = 1, formants = 1 }: Pick<EngineSource, 'melody' | 'formants'>,
): SpeechEngine {
  if (melody === 1 && formants === 1) return engine;
  return {
    name: engine.name,
    voices: engine.voices,
    warmUp: () => engine.warmUp(),
    async *synthesize(request, signal) {
      const chunks = engine.synthesize(beforehand(request, melody, formants), signal);
      for await (const chunk of chunks) yield played(chunk, formants);
    },
    close: () => engine.close(),
  };
}

function beforehand(request: EngineRequest, melody: number, formants: number): EngineRequest {
  return {
    ...request,
    speed: request.speed / formants,
    pitch: request.pitch - 12 * Math.log2(formants),
    melody: (request.melody ?? 1) * melody,
  };
}

function played(chunk: SpeechChunk, formants: number): SpeechChunk {
  const { sampleRate, words } = chunk;
  const shorter = sampleRate / Math.round(sampleRate * formants);
  const timed = words?.map((word) => ({
    ...word,
    startMs: word.startMs * shorter,
    endMs: word.endMs * shorter,
  }));
  return {
    ...chunk,
    sampleRate: Math.round(sampleRate * formants),
    ...(timed === undefined ? {} : { words: timed }),
  };
}
