import { describe, expect, test } from 'vitest';
import { concatSamples } from '../../src/audio/resample.ts';
import type { Spoken } from '../alignment/spoken.ts';
import {
  alignTo,
  countPlaced,
  energiesOf,
  meanError,
  noise,
  OTHER_TEXT,
  speakWords,
  TEXT,
} from '../alignment/spoken.ts';
import { alignWords } from '../../src/alignment/align-words.ts';

/** The largest mean difference between a word start and the true one. */
const MOST_MS = 40;

describe('the words of another voice', () => {
  test.each([
    ['slt', 1],
    ['rms', 1],
    ['awb', 1],
    ['awb', 0.7],
    ['awb', 1.5],
  ])('start where %s says them at speed %s', async (voice, speed) => {
    const recording = speakWords(TEXT, voice, speed);
    const placed = await alignTo(TEXT, recording);
    expect(countPlaced(placed)).toBeGreaterThan(0.95 * placed.length);
    expect(meanError(placed, recording.words)).toBeLessThan(MOST_MS);
  });

  test('are found at 8 kHz', async () => {
    const { samples, words } = speakWords(TEXT, 'awb');
    const half = Float32Array.from(
      { length: samples.length >> 1 },
      (_, at) => ((samples[2 * at] ?? 0) + (samples[2 * at + 1] ?? 0)) / 2,
    );
    const placed = await alignTo(TEXT, { samples: half, sampleRate: 8_000 });
    expect(countPlaced(placed)).toBe(placed.length);
    expect(meanError(placed, words)).toBeLessThan(MOST_MS);
  });

  test('are found in noise', async () => {
    const { samples, sampleRate, words } = speakWords(TEXT, 'awb');
    const hiss = noise(Math.ceil(samples.length / sampleRate), 0.015);
    const noisy = samples.map((sample, at) => sample + (hiss[at] ?? 0));
    const placed = await alignTo(TEXT, { samples: noisy, sampleRate });
    expect(countPlaced(placed)).toBeGreaterThan(0.95 * placed.length);
    expect(meanError(placed, words)).toBeLessThan(MOST_MS);
  });

  test.each([
    ['silence', new Float32Array(20 * 16_000)],
    ['noise', noise(20, 0.01)],
  ])('are found after 20 s of %s', async (_, before) => {
    const recording = speakWords(TEXT, 'awb');
    const placed = await alignTo(TEXT, {
      ...recording,
      samples: concatSamples([before, recording.samples]),
    });
    expect(countPlaced(placed)).toBeGreaterThan(0.95 * placed.length);
    expect(meanError(placed, recording.words, 20_000)).toBeLessThan(MOST_MS);
  });
});

describe('a word that is not found', () => {
  test('belongs to another text', async () => {
    for (const voice of ['slt', 'rms']) {
      const placed = await alignTo(TEXT, speakWords(OTHER_TEXT, voice));
      expect(countPlaced(placed)).toBeLessThan(0.2 * placed.length);
    }
  });

  test.each([
    ['silence', new Float32Array(10 * 16_000)],
    ['noise', noise(10, 0.3)],
    ['a chord', chord(10)],
    ['an empty recording', new Float32Array(0)],
    ['less than a frame', new Float32Array(100)],
  ])('is not in %s', async (_, samples) => {
    const placed = await alignTo(TEXT, { samples, sampleRate: 16_000 });
    expect(countPlaced(placed)).toBeLessThan(0.1 * placed.length);
  });

  test('comes after the end of a recording that was cut', async () => {
    const { samples, sampleRate, words } = speakWords(TEXT, 'awb');
    const middle = words.length >> 1;
    const end = Math.round(((words[middle]?.startMs ?? 0) * sampleRate) / 1000);
    const placed = await alignTo(TEXT, { samples: samples.subarray(0, end), sampleRate });
    expect(countPlaced(placed.slice(0, middle - 4))).toBe(middle - 4);
    expect(countPlaced(placed.slice(middle + 4))).toBeLessThan(4);
  });

  test('is missing in the middle of a recording', async () => {
    const { after, before, words } = halves();
    const { samples, sampleRate } = before;
    const placed = await alignTo(`${FIRST} ${OTHER_TEXT} ${SECOND}`, {
      samples: concatSamples([samples, after.samples]),
      sampleRate,
    });
    const missing = placed.slice(before.words.length, placed.length - after.words.length);
    expect(countPlaced(missing)).toBeLessThan(0.15 * missing.length);
    const found = [...placed.slice(0, before.words.length), ...placed.slice(-after.words.length)];
    expect(countPlaced(found)).toBeGreaterThan(0.75 * found.length);
    expect(meanError(found, words)).toBeLessThan(2 * MOST_MS);
  });
});

test('other speech in the middle of a recording moves the words after it', async () => {
  const { after, before } = halves();
  const other = speakWords(OTHER_TEXT, 'awb').samples;
  const { samples, sampleRate } = before;
  const recording = { samples: concatSamples([samples, other, after.samples]), sampleRate };
  const placed = await alignTo(`${FIRST} ${SECOND}`, recording);
  expect(countPlaced(placed)).toBeGreaterThan(0.6 * placed.length);
  const offsetMs = ((samples.length + other.length) * 1000) / sampleRate;
  const last = placed.slice(-10);
  expect(countPlaced(last)).toBe(10);
  expect(meanError(last, after.words.slice(-10), offsetMs)).toBeLessThan(MOST_MS);
});

test('an abort ends the alignment with its reason', async () => {
  const recording = energiesOf(speakWords(TEXT, 'awb'));
  const reference = speakWords(TEXT);
  const stop = new AbortController();
  const reason = new Error('stopped');
  stop.abort(reason);
  const words = { energies: energiesOf(reference), words: reference.words };
  await expect(alignWords(recording, words, stop.signal)).rejects.toBe(reason);
});

const [FIRST, SECOND] = [TEXT.slice(0, 140).trim(), TEXT.slice(140).trim()];

/** Both halves of the text as awb says them, and the times of all words if nothing is between them. */
function halves(): Record<'after' | 'before', Spoken> & Pick<Spoken, 'words'> {
  const [before, after] = [speakWords(FIRST, 'awb'), speakWords(SECOND, 'awb')];
  const offsetMs = (before.samples.length * 1000) / before.sampleRate;
  const moved = after.words.map((word) => {
    return { ...word, startMs: word.startMs + offsetMs, endMs: word.endMs + offsetMs };
  });
  return { before, after, words: [...before.words, ...moved] };
}

function chord(seconds: number): Float32Array {
  return Float32Array.from({ length: seconds * 16_000 }, (_, at) =>
    [220, 330, 440].reduce((sum, hertz) => {
      const step = 1 + (Math.floor(at / 6_000) % 4) / 4;
      return sum + 0.1 * Math.sin((2 * Math.PI * hertz * step * at) / 16_000);
    }, 0),
  );
}
