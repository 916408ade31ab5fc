// Entry point of dist/hibari-voice.cjs, which the adapter engines/hibari loads. `foley engine add` copies it together with
// the files that it reads, at the same relative paths.

import { fileURLToPath } from 'node:url';
import { openBritish } from '../../../phonemes/british.ts';
import { openEnglish } from '../../../phonemes/english.ts';
import { unknownWordReader } from '../../../phonemes/unknown-word-network.ts';
import type { WordMark } from '../speech-engine.ts';
import { textPieces } from './pieces.ts';
import type { PlainText } from './synthesizer.ts';
import { HibariSynthesizer } from './synthesizer.ts';
import { OWN_VOICE, SAMPLE_RATE } from './cast.ts';
import { wordMarks } from './word-marks.ts';

/** The speech of one sentence or clause: samples at 24 kHz, from -1 to 1, and the times of its words. */
export interface SpokenSentence {
  readonly samples: Float32Array;
  readonly words: readonly WordMark[];
}

/** Speaks a text of plain words. Yields nothing for a text without anything that an English voice can speak. */
export type SpeakText = (request: PlainText) => Generator<SpokenSentence>;

/**
 * Opens a voice of the model with weights of its own. The output is deterministic.
 * @param weights the bytes of a safetensors file
 * @param isBritish whether the voice learned British phonemes
 */
export function openVoice(weights: Uint8Array, isBritish: boolean): SpeakText {
  const kernels = fileURLToPath(new URL('packages', import.meta.url));
  const folder = fileURLToPath(new URL('../assets/voice', import.meta.url));
  const readUnknown = unknownWordReader(
    `${kernels}/kernels.wasm`,
    `${folder}/unknown-words.safetensors`,
  );
  const english = (isBritish ? openBritish : openEnglish)(folder, readUnknown);
  const synthesizer = new HibariSynthesizer({
    kernels,
    weights,
    english,
  });
  return function* speak({ pitch, speed, text }) {
    let offsetMs = 0;
    for (const piece of textPieces(text)) {
      const { pauseMs, spelled, text: plain } = piece;
      const request = { pauseMs, pitch, speed, spelled, text: plain, voice: OWN_VOICE };
      const { samples, tokens } = synthesizer.speak(request);
      if (samples.length === 0) continue;
      yield { samples, words: wordMarks(piece, tokens, offsetMs) };
      offsetMs += (samples.length * 1000) / SAMPLE_RATE;
    }
  };
}
