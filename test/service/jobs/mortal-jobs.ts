import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';

/** Sentences of a segment: enough for one, too many for two in one. */
const SENTENCES = 40;

/** What the n-th job is to say: two segments, each a paragraph of its own. */
export function mortalBody(number: number) {
  const paragraph = (word: string): string =>
    `${`${word} ${number} said. `.repeat(SENTENCES).trim()}\n\n`;
  return {
    text: paragraph('First') + paragraph('Second'),
    voiceId: VOICES[0]?.id,
    modelId: 'vendor-s21pro',
    format: 'mp3',
  };
}

/** How long that is, at 20 ms a word. */
export const MORTAL_MS = 2 * SENTENCES * 3 * 20;
