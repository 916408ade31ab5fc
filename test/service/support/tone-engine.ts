import { unspokenLetters } from '../../../src/service/engine/hibari/pieces.ts';
import { findVariation, HIBARI_VOICES } from '../../../src/service/engine/hibari/cast.ts';
import { once } from 'node:events';
import { abortable } from '../../../src/system/concurrency.ts';
import {
  EngineError,
  type EngineRequest,
  type SpeechChunk,
  type SpeechEngine,
  VARIED_VOICE,
} from '../../../src/service/engine/speech-engine.ts';

/** A small real engine: each word is a tone of 20 ms (or another length), each sentence a chunk. */
export interface ToneEngine extends SpeechEngine {
  /** What was asked for, in order. */
  readonly requests: readonly EngineRequest[];
  /** How many chunks were made. */
  readonly chunksMade: () => number;
  /** How many texts are being spoken now. */
  readonly speaking: () => number;
  /** From now on a text stops before this chunk until the function that it gives is called. */
  holdBefore(chunk: number): () => void;
  /** From now on a text breaks before this chunk. */
  failBefore(chunk: number): void;
}

const SAMPLE_RATE = 16_000;

export function toneEngine({ wordMs = 20 } = {}): ToneEngine {
  const wordSamples = (SAMPLE_RATE * wordMs) / 1_000;
  const requests: EngineRequest[] = [];
  let made = 0;
  let speaking = 0;
  let hold: { readonly chunk: number; readonly released: Promise<unknown> } | undefined;
  let failing = Infinity;
  async function* synthesize(request: EngineRequest, signal: AbortSignal) {
    requests.push(request);
    const sentences = sentencesOf(request.text);
    if (sentences.length === 0) throw new EngineError('unspeakable', 'There is no word in it.');
    speaking += 1;
    try {
      for (const [index, words] of sentences.entries()) {
        if (hold !== undefined && index >= hold.chunk) await abortable(hold.released, signal);
        signal.throwIfAborted();
        if (index >= failing)
          throw new EngineError('failed', 'The engine broke.', 'The secret inside of it.');
        made += 1;
        yield toneChunk(words, wordSamples, request);
      }
    } finally {
      speaking -= 1;
    }
  }
  return {
    name: 'hibari',
    voices: HIBARI_VOICES.map(({ id, language }) => ({
      id,
      language,
      sampleRate: SAMPLE_RATE,
      pitch: true,
      reads: true,
    })),
    requests,
    chunksMade: () => made,
    speaking: () => speaking,
    async warmUp() {},
    synthesize,
    unspoken: ({ text, textNormalization }) =>
      unspokenLetters(text, textNormalization === false ? undefined : 'US'),
    async close() {},
    holdBefore(chunk) {
      const opened = new AbortController();
      hold = { chunk, released: once(opened.signal, 'abort') };
      return () => opened.abort();
    },
    failBefore(chunk) {
      failing = chunk;
    },
  };
}

function sentencesOf(text: string): readonly (readonly string[])[] {
  const sentences = text.split(/[.!?]/).map((sentence) => sentence.match(/[\p{L}\p{N}]+/gu) ?? []);
  return sentences.filter((words) => words.length > 0);
}

function toneChunk(
  words: readonly string[],
  wordSamples: number,
  { pitch, speed, voice }: EngineRequest,
): SpeechChunk {
  const factor = voice.startsWith(VARIED_VOICE) ? (findVariation(voice)?.pitch ?? 1) : 1;
  const length = Math.round(wordSamples / speed);
  const samples = new Float32Array(words.length * length);
  for (const [index, word] of words.entries()) {
    const hertz = (200 + 20 * word.length) * factor * 2 ** (pitch / 12);
    for (let at = 0; at < length; at += 1) {
      samples[index * length + at] = 0.1 * Math.sin((2 * Math.PI * hertz * at) / SAMPLE_RATE);
    }
  }
  return { samples, sampleRate: SAMPLE_RATE };
}
