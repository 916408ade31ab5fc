import type { Resampler } from '../engine/resample.ts';
import { createResampler } from '../engine/resample.ts';
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
    synthesize(request, signal) {
      const chunks = engine.synthesize(beforehand(request, melody, formants), signal);
      return formants === 1 ? chunks : playedAt(chunks, formants);
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

/** The speech at its own rate, as if it had been played so much faster. */
async function* playedAt(
  chunks: AsyncIterable<SpeechChunk>,
  formants: number,
): AsyncGenerator<SpeechChunk> {
  let line: Resampler | undefined;
  let rate = 0;
  try {
    for await (const chunk of chunks) {
      rate = chunk.sampleRate;
      const played = Math.round(rate * formants);
      line ??= await createResampler(played, rate);
      yield { ...withWords(chunk, rate / played), samples: line.push(chunk.samples) };
    }
    // What the filter looked ahead for.
    const samples = line?.finish() ?? new Float32Array(0);
    if (samples.length > 0) yield { samples, sampleRate: rate };
  } finally {
    line?.close();
  }
}

function withWords(chunk: SpeechChunk, shorter: number): SpeechChunk {
  if (chunk.words === undefined) return chunk;
  const words = chunk.words.map((word) => ({
    ...word,
    startMs: word.startMs * shorter,
    endMs: word.endMs * shorter,
  }));
  return { ...chunk, words };
}
