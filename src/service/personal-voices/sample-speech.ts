import type { EngineRequest, SpeechEngine } from '../engine/speech-engine.ts';
import { EngineError } from '../engine/speech-engine.ts';
import type { Speech } from '../reference-audio/listener.ts';

/** Sentences as most of what is said: short statements, whose pitch falls from beginning to end. */
const ENGLISH =
  'Good morning, everybody. The old man loved the yellow lemon. Nobody would be there before nine. ' +
  'Hello from me. A large dog ran along the road, and I followed it.';
/** Every voice of every language can say these. */
const NUMBERS = '12, 34, 56, 78, 90, 21, 43, 65, 87, 109, 11, 22, 33, 44.';

/** What a voice of this language says to be measured. */
export function sampleText(language: string): string {
  return /^en\b/i.test(language) ? ENGLISH : NUMBERS;
}

/** Speaks a text at once; nothing where the voice can say nothing of it. @throws EngineError */
export async function sampleSpeech(
  engine: SpeechEngine,
  request: EngineRequest,
  signal: AbortSignal,
): Promise<Speech | undefined> {
  const parts: Float32Array[] = [];
  let sampleRate = 0;
  try {
    for await (const chunk of engine.synthesize(request, signal)) {
      parts.push(chunk.samples);
      sampleRate = chunk.sampleRate;
    }
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'unspeakable') return undefined;
    throw error;
  }
  const samples = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return { samples, sampleRate };
}
