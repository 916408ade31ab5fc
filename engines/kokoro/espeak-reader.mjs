// Reads British English and other languages with espeak-ng, in the symbols of Kokoro.

import { loadPhonemes } from '../parts/phonemes.mjs';
import { separated } from './british.mjs';
import { idsOf, symbolsOf } from './symbols.mjs';

/**
 * Loads espeak-ng.
 * @returns {Promise<(voice: import('./voices.mjs').KokoroVoice) => import('./speech.mjs').Read>}
 * @throws {Error} if espeak-ng is not installed
 */
export async function loadEspeakReaders() {
  const phonemize = await loadPhonemes();
  return ({ language, espeak }) =>
    (text) => {
      const { spoken: joined, gap } = phonemize(text, espeak);
      const characters = Array.from(text);
      const textOf = ({ start, end }) => characters.slice(start, end).join('');
      const soundsAlone = (word) => phonemize(textOf(word), espeak).spoken[0]?.phonemes.length ?? 0;
      const words = language === 'en-GB' ? separated(joined, soundsAlone) : joined;
      const spoken = words.map(({ ranges, phonemes, gap: before }) => {
        return {
          ranges,
          gap: before,
          ids: idsOf(symbolsOf(phonemes, language, textOf(ranges[0]))),
        };
      });
      return { spoken, gap };
    };
}
