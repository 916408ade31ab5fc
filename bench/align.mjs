// The alignment of a recording with its text against the time in which flite speaks the reference.
import { loadTypeScript } from '../scripts/load-typescript.mjs';
import { median } from './measure.mjs';

/** The alignment may take this many times as long as speaking the reference. */
const MOST_TIMES = 5;
const SENTENCES = 80;
const SENTENCE =
  'The children were playing in the park until the evening, and then everyone went home without saying a word. ';

export const title = 'aligning words with a recording';

export async function measure() {
  const { alignWords } = await loadTypeScript('src/alignment/align-words.ts');
  const { BandMeter } = await loadTypeScript('src/alignment/features.ts');
  const { speak } = await loadTypeScript('test/harness/flite.ts');
  const one = speak(SENTENCE, { voice: 'kal16' });
  const other = speak(SENTENCE, { voice: 'awb' });
  const sentenceMs = one.length / 16;
  const words = Array.from({ length: SENTENCES }, (_, index) => {
    return { startMs: index * sentenceMs, endMs: (index + 1) * sentenceMs };
  });
  const energies = (samples) => {
    const meter = new BandMeter(16_000);
    for (let count = 0; count < SENTENCES; count += 1) meter.push(samples);
    return meter.finish();
  };
  const speaking = [];
  const aligning = [];
  for (let round = 0; round < 3; round += 1) {
    const start = performance.now();
    for (let count = 0; count < SENTENCES; count += 1) {
      speak(SENTENCE, { voice: 'kal16' });
    }
    const middle = performance.now();
    const reference = { energies: energies(one), words };
    await alignWords(energies(other), reference, new AbortController().signal);
    speaking.push(middle - start);
    aligning.push(performance.now() - middle);
  }
  const soundMs = (SENTENCES * other.length) / 16;
  const all = median(speaking) + median(aligning);
  return [
    {
      name: `${Math.round(soundMs / 60_000)} min: aligning × speaking`,
      ratio: median(aligning) / median(speaking),
      medianMs: median(aligning),
      limit: MOST_TIMES,
    },
    { name: 'speaking and aligning × the sound', ratio: all / soundMs, medianMs: all },
  ];
}
