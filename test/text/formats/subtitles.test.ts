import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readSubtitles } from '../../../src/captions/read-subtitles.ts';
import { CUE_PRESETS } from '../../../src/captions/cue-shape.ts';
import { findViolations } from '../../../src/captions/violations.ts';
import { readTimedCues } from '../../../src/script/read/documents.ts';
import { decodeUtf8 } from '../../../src/text/decode.ts';
import { readDocument } from '../../../src/text/formats/read-document.ts';
import { readSubtitles as readSpoken } from '../../../src/text/formats/subtitles.ts';
import { SUBTITLE_FILES, subtitleBytes } from './subtitle-files.ts';

test('each subtitle file of the fixtures has its text', () => {
  const folder = new URL('../../fixtures/subtitles', import.meta.url);
  const names = SUBTITLE_FILES.map(({ name }) => name);
  expect(names.toSorted()).toEqual(readdirSync(folder).toSorted());
});

describe.each(SUBTITLE_FILES)('$name', (file) => {
  const text = decodeUtf8(subtitleBytes(file));

  test('is spoken with its words', async () => {
    const spoken = await readDocument('subtitles', subtitleBytes(file));
    expect(spoken.map((part) => part.text)).toEqual([file.spoken ?? file.cues.join(' ')]);
  });

  test('is checked with the lines that it shows', () => {
    const cues = readSubtitles(text, file.name);
    const shown = cues.map(({ lines }) => lines.join(' ').replaceAll(/\s+/g, ' ').trim());
    expect(shown.filter((line) => line !== '')).toEqual(file.cues);
  });

  const isScript = !file.name.startsWith('hours') && (file.turns ?? file.spoken === undefined);
  test.runIf(isScript)('is a timed script', () => {
    const lines = readTimedCues(text, file.name, []);
    const spoken = lines.map(({ speaker, texts }) => [speaker, texts.join(' ')]);
    expect(spoken).toEqual(file.turns ?? file.cues.map((cue) => [undefined, cue]));
    for (const [index, { endMs = 0, startMs = 0 }] of lines.entries()) {
      expect(endMs).toBeGreaterThan(startMs);
      expect(startMs).toBeGreaterThanOrEqual(lines[index - 1]?.endMs ?? 0);
    }
  });
});

test('a violation has the line number of its row, also after an empty row', () => {
  const content = '1\n00:00:01,000 --> 00:00:05,000\nOne\n\n \nThree is too long\n';
  const shape = { ...CUE_PRESETS.netflix, maxChars: 10, by: 'phrase' } as const;
  const violations = findViolations(readSubtitles(content, 'a.srt'), shape);
  expect(violations).toMatchObject([
    { rule: 'line-length', line: 6, text: 'One Three is too long' },
  ]);
});

test.each([
  ['cues with a gap', ['00:01.000 --> 00:02.000', '00:02.042 --> 00:03.000'], 'Go! Go!'],
  ['cues without a gap', ['00:01.000 --> 00:02.000', '00:02.041 --> 00:03.000'], 'Go!'],
  ['cues of other times', ['00:05.000 --> 00:06.000', '00:01.000 --> 00:02.000'], 'Go! Go!'],
])('the same words in %s', (_, times, spoken) => {
  const cues = times.map((row) => `${row}\nGo!\n\n`).join('');
  expect(readSpoken(`WEBVTT\n\n${cues}`).text).toBe(spoken);
});

test('a row that continues the previous row once is other words', () => {
  expect(readSpoken(cueAt(1, 'yes') + cueAt(2, 'yes sir') + cueAt(3, 'good')).text).toBe(
    'yes yes sir good',
  );
});

function cueAt(second: number, text: string): string {
  return `00:0${second}.000 --> 00:0${second + 1}.000\n${text}\n\n`;
}

test('SubViewer, as YouTube writes it', () => {
  const file = '0:00:01.000,0:00:03.000\nHello there.\nTwo\n\n0:00:04.000,0:00:05.500\nAt 1,2.\n';
  expect(readSpoken(file).text).toBe('Hello there. Two At 1,2.');
  expect(readTimedCues(file, 'a.sbv', [])).toMatchObject([
    { startMs: 1_000, endMs: 3_000 },
    { startMs: 4_000, endMs: 5_500 },
  ]);
});

test('lyrics in the order of their times, each line as often as it is sung', () => {
  const lyrics =
    '\ufeff[ar:Someone]\r\n[length: 02:12]\r\n[00:12.00][00:20:50]A <00:13.00>chorus\r\n[00:15]One [verse]\n[00:18]\n[00:30]La\n[00:31]La';
  expect(readSpoken(lyrics).text).toBe('A chorus\nOne [verse]\nA chorus\nLa\nLa');
});
