// The reading of English (numbers, dates, abbreviations) against the time in which flite speaks it.
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
  const { speak } = await loadTypeScript('test/harness/flite.ts');
  const text = SENTENCE.repeat(Math.ceil(CHARACTERS / SENTENCE.length)).slice(0, CHARACTERS);
  const sentence = spokenText(SENTENCE, readEnglish(SENTENCE, { region: 'US' }));
  const reading = [];
  const speaking = [];
  for (let round = 0; round < 5; round += 1) {
    reading.push(timeOf(() => spokenText(text, readEnglish(text, { region: 'US' }))));
    speaking.push(
      timeOf(() => {
        for (let said = 0; said < CHARACTERS; said += SENTENCE.length) speak(sentence);
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
