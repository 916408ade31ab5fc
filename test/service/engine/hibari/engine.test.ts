import { array, assert, asyncProperty, constantFrom, nat, oneof, string, tuple } from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createHibariEngine } from '../../../../src/service/engine/hibari/engine.ts';
import { HIBARI_VOICES } from '../../../../src/service/engine/hibari/cast.ts';
import type {
  EngineRequest,
  SpeechChunk,
  WordMark,
} from '../../../../src/service/engine/speech-engine.ts';
import { HIBARI_WORKER_FILE } from '../../../../src/service/worker-file.ts';
import { concatSamples } from '../../../../src/audio/resample.ts';
import { medianPitch } from '../../../harness/median-pitch.ts';

const RATE = 24_000;
const SILENCE = 10 ** (-50 / 20);
const SILENT = new Float32Array();
/** Half a frame of the model. */
const STEP_MS = 6.25;
const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';

const engine = createHibariEngine({ workerFile: HIBARI_WORKER_FILE, threads: 2 });
afterAll(() => engine.close());

async function chunksOf(
  text: string,
  options: Partial<EngineRequest> = {},
  signal = new AbortController().signal,
): Promise<SpeechChunk[]> {
  const request = { text, voice: 'clara', speed: 1, pitch: 0, isTimed: true, ...options };
  const chunks: SpeechChunk[] = [];
  for await (const chunk of engine.synthesize(request, signal)) chunks.push(chunk);
  return chunks;
}

const joined = (chunks: readonly SpeechChunk[]) =>
  concatSamples(chunks.map(({ samples }) => samples));

/** Compares bytes: `toEqual` would take seconds for the samples of a sentence. */
function isSame(one: Float32Array = SILENT, other: Float32Array = SILENT): boolean {
  const [first, second] = [one, other].map(({ buffer, byteLength, byteOffset }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  );
  return one.length > 0 && second !== undefined && first?.equals(second) === true;
}

const wordsOf = (chunks: readonly SpeechChunk[]): readonly WordMark[] =>
  chunks.flatMap(({ words = [] }) => words);

function said(text: string, words: readonly { start: number; end: number }[]): string[] {
  const characters = Array.from(text);
  return words.map(({ start, end }) => characters.slice(start, end).join(''));
}

/** The longest silence between two sounds, in milliseconds. */
function longestPauseMs(samples: Float32Array): number {
  let longest = 0;
  let last: number | undefined;
  for (const [at, sample] of samples.entries()) {
    if (Math.abs(sample) < SILENCE) continue;
    longest = Math.max(longest, at - (last ?? at));
    last = at;
  }
  return (longest * 1000) / RATE;
}

const pitchOf = (samples: Float32Array): number => medianPitch({ samples, sampleRate: RATE });

describe('the built-in voice', () => {
  test('speaks the same samples for the same request', async () => {
    const text = 'Hello there. How are you? She read the record.';
    expect(isSame(joined(await chunksOf(text)), joined(await chunksOf(text)))).toBe(true);
  });

  test('speaks a sentence the same way wherever it is in a text', async () => {
    const [first, , second] = await chunksOf('Hello there. How are you?');
    expect(isSame(first?.samples, (await chunksOf('Hello there.'))[0]?.samples)).toBe(true);
    expect(isSame(second?.samples, (await chunksOf('How are you?'))[0]?.samples)).toBe(true);
  });

  test('says which part of the text a chunk is', async () => {
    const text = 'One two. 你好。 Three.';
    const spans = (await chunksOf(text)).flatMap(({ span }) => (span === undefined ? [] : [span]));
    expect(said(text, spans)).toEqual(['One two. ', 'Three.']);
  });

  test('starts within 30 ms, and pauses between sentences, longer between paragraphs', async () => {
    const samples = joined(await chunksOf('Hello there.'));
    expect(samples.findIndex((sample) => Math.abs(sample) > SILENCE)).toBeLessThan(RATE * 0.03);
    const sentences = longestPauseMs(joined(await chunksOf('We came home. The door was open.')));
    const paragraphs = longestPauseMs(
      joined(await chunksOf('We came home.\n\nThe door was open.')),
    );
    expect(sentences).toBeGreaterThan(250);
    expect(paragraphs).toBeGreaterThan(600);
    expect(paragraphs - sentences).toBeGreaterThan(200);
  });

  test('stops at once when it is cancelled', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const speech = chunksOf('A long text. '.repeat(50), {}, abort.signal);
    abort.abort(reason);
    await expect(speech).rejects.toBe(reason);
  });

  test.each(['', ' \n', '你好，世界。', '🎉 — …', '\0\0', '* * *'])(
    '%j is unspeakable',
    async (text) => {
      await expect(chunksOf(text)).rejects.toMatchObject({
        name: 'EngineError',
        reason: 'unspeakable',
      });
    },
  );

  test.each([
    ['The knite sat.', 'knite', 'The night sat.'],
    ["The 重庆's door, and the 5 kg.", '重庆', "The night's door, and the 5 kg."],
    ['He has 5 kg of it.', 'kg', 'He has five night of it.'],
    ['See https://knite.example now.', 'knite', 'See https://night.example now.'],
  ])('speaks %j with given phonemes', async (text, word, like) => {
    const at = Array.from(text.slice(0, text.indexOf(word))).length;
    const span = { start: at, end: at + Array.from(word).length, phonemes: 'naɪt' };
    const chunks = await chunksOf(text, { pronounced: [span] });
    expect(isSame(joined(chunks), joined(await chunksOf(like)))).toBe(true);
    expect(said(text, wordsOf(chunks)).join(' ')).toContain(word);
  });

  test('reports the letters that it cannot say', () => {
    const request = { text: 'Say 你好 to Zoë.', voice: 'clara', speed: 1, pitch: 0 };
    const unspoken = engine.unspoken?.(request);
    expect(unspoken).toEqual([{ start: 4, end: 6 }]);
  });

  test('is slower and faster on request, at the same pitch', async () => {
    const text = 'The old man loved the yellow lemon.';
    const [slow, normal, fast] = await Promise.all(
      [0.5, 1, 2].map(async (speed) => joined(await chunksOf(text, { speed }))),
    );
    expect((slow?.length ?? 0) / (normal?.length ?? 1)).toBeGreaterThan(1.7);
    expect((fast?.length ?? 0) / (normal?.length ?? 1)).toBeLessThan(0.65);
    expect(pitchOf(slow ?? new Float32Array())).toBeCloseTo(
      pitchOf(normal ?? new Float32Array()),
      -1.7,
    );
  });

  test('is higher and lower on request, as long as before', async () => {
    const text = 'The old man loved the yellow lemon.';
    const normal = joined(await chunksOf(text));
    for (const pitch of [-12, -5, 5, 12]) {
      const moved = joined(await chunksOf(text, { pitch }));
      expect(moved.length).toBe(normal.length);
      const semitones = 12 * Math.log2(pitchOf(moved) / pitchOf(normal));
      expect(Math.abs(semitones - pitch), `${semitones} semitones for ${pitch}`).toBeLessThan(1.5);
    }
  });
});

describe('the words of a text and their times', () => {
  test.each([
    [
      'as they are written',
      'It costs $42.50, Dr. Smith.',
      ['It', 'costs', '$42.50', 'Dr', 'Smith'],
    ],
    ['without the signs around them', '“Don’t — (please)!”', ['Don’t', 'please']],
    ['joined by a hyphen', 'a well‑known co-op', ['a', 'well‑known', 'co-op']],
    [
      'of letters that are spelled',
      'The API of the U.S. has APIs.',
      ['The', 'API', 'of', 'the', 'U.S.', 'has', 'APIs'],
    ],
    ['in code points', '😀 Hi 👨‍👩‍👧 there', ['Hi', 'there']],
    ['with their accents', 'Café naïve ﬁne', ['Café', 'naïve', 'ﬁne']],
    ['of a range', 'pages 10–20', ['pages', '10', '20']],
    ['but those of other scripts', 'Say 你好 to me', ['Say', 'to', 'me']],
    ['of several sentences', 'One. Two! Three?', ['One', 'Two', 'Three']],
  ])('%s', async (_name, text, expected) => {
    const chunks = await chunksOf(text);
    const words = wordsOf(chunks);
    expect(said(text, words)).toEqual(expected);
    let last = 0;
    for (const { endMs, startMs } of words) {
      expect(startMs).toBeGreaterThanOrEqual(last);
      expect(endMs).toBeGreaterThan(startMs);
      last = endMs;
    }
    expect(last).toBeLessThanOrEqual((joined(chunks).length * 1000) / RATE);
  });

  test('are half frames of the model from the beginning of the speech', async () => {
    const chunks = await chunksOf('We came home. The door was open.');
    for (const { endMs, startMs } of wordsOf(chunks)) {
      expect(startMs % STEP_MS).toBe(0);
      expect(endMs % STEP_MS).toBe(0);
    }
    const beforeMs = ((chunks[0]?.samples.length ?? 0) * 1000) / RATE;
    const alone = wordsOf(await chunksOf('The door was open.'));
    const later = wordsOf(chunks).slice(3);
    expect(later.map(({ startMs }) => startMs)).toEqual(
      alone.map(({ startMs }) => startMs + beforeMs),
    );
  });

  test(
    'of any numbers are all there, in order and within the sound',
    { timeout: 300_000 },
    async () => {
      const whole = oneof(nat(999), nat(9_999), nat(999_999_999), nat(Number.MAX_SAFE_INTEGER));
      const number = oneof(
        whole.map(String),
        whole.map((value) => value.toLocaleString('en-US')),
        whole.map((value) => `-${value}`),
        tuple(nat(9_999), nat(999)).map((parts) => parts.join('.')),
        constantFrom(
          '1984',
          '007',
          '3rd',
          '$3.50',
          '10%',
          '12:30',
          '5x',
          '10-20',
          '1,2,3,4',
          'May',
          'and',
        ),
      );
      const list = tuple(array(number, { minLength: 1, maxLength: 8 }), constantFrom(', ', ' '));
      const allAreTimed = asyncProperty(list, async ([numbers, separator]) => {
        const text = numbers.join(separator);
        const chunks = await chunksOf(text);
        const words = wordsOf(chunks);
        expect(said(text, words)).toEqual(numbers.map((one) => one.replace(/^-/, '')));
        const times = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        const lengthMs = chunks.reduce(
          (sum, { samples }) => sum + (samples.length * 1_000) / RATE,
          0,
        );
        expect(times.at(-1)).toBeLessThanOrEqual(lengthMs + 0.001);
      });
      await assert(allAreTimed, { numRuns: IS_FULL ? 300 : 3 });
    },
  );

  test('of any text run forwards, in the text and in its sound', { timeout: 300_000 }, async () => {
    const part = oneof(
      constantFrom(
        'Hello',
        'the',
        '42',
        '$3.50',
        'U.S.A.',
        '—',
        '“so”',
        '你好',
        '😀',
        '3rd',
        'x²',
        '...',
      ),
      constantFrom('.', '?', ', ', '\n\n'),
      string({ unit: 'grapheme', maxLength: 8 }),
    );
    const runsForwards = asyncProperty(array(part, { maxLength: 12 }), async (parts) => {
      const text = `Go ${parts.join(' ')}`;
      const chunks = await chunksOf(text);
      const lengthMs = chunks.reduce(
        (sum, { samples }) => sum + (samples.length * 1_000) / RATE,
        0,
      );
      let last: WordMark = { start: 0, end: 0, startMs: 0, endMs: 0 };
      for (const word of wordsOf(chunks)) {
        expect(word.start).toBeGreaterThanOrEqual(last.end);
        expect(word.end).toBeGreaterThan(word.start);
        expect(word.startMs).toBeGreaterThanOrEqual(last.endMs - 0.001);
        expect(word.endMs).toBeGreaterThanOrEqual(word.startMs);
        expect(word.endMs).toBeLessThanOrEqual(lengthMs + 0.001);
        last = word;
      }
      expect(last.end).toBeLessThanOrEqual(Array.from(text).length);
    });
    await assert(runsForwards, { numRuns: IS_FULL ? 500 : 12 });
  });

  test('of a clause of many long numbers are all there', async () => {
    // More than two pieces of the most phonemes that the network reads at once.
    const text = Array.from({ length: 16 }, (_, at) => 777_477 + at).join(' ');
    expect(said(text, wordsOf(await chunksOf(text)))).toEqual(text.split(' '));
  });

  test('come only on request', async () => {
    expect(wordsOf(await chunksOf('We came home.', { isTimed: false }))).toEqual([]);
  });

  test.each([1, 1.5, 2])('have a time at the speed %s, also a short first word', async (speed) => {
    for (const text of [
      'It is a long sentence about the sea.',
      'At it. I am.',
      'To be or not',
      'A',
    ]) {
      for (const voice of ['clara', 'tess', 'hugo']) {
        const words = wordsOf(await chunksOf(text, { speed, voice }));
        expect(said(text, words).join(' ')).toBe(text.replaceAll('.', ''));
        for (const { endMs, startMs } of words) expect(endMs - startMs).toBeGreaterThan(12);
        expect(words[0]?.startMs).toBeGreaterThan(0);
      }
    }
  });
});

test('a deep voice does not buzz above the frequencies that the model knows', async () => {
  const text = 'Good morning, everybody. The old man loved the yellow lemon.';
  const samples = joined(await chunksOf(text, { voice: 'hugo' }));
  const [own = NaN, high = NaN] = [[60, 3_000] as const, [9_400, 10_900] as const].map(
    ([lowest, highest]) => powerBetween(samples, lowest, highest),
  );
  expect(10 * Math.log10(high / own)).toBeLessThan(-45);
});

function levelOf(frame: Float32Array): number {
  return frame.reduce((sum, one) => sum + one * one, 0);
}

/** Returns the median, over loud frames, of the power between two frequencies at 24 kHz. */
function powerBetween(samples: Float32Array, lowest: number, highest: number): number {
  const size = 480;
  const frames = Array.from({ length: Math.floor(samples.length / 2_400) }, (_, index) =>
    samples.subarray(index * 2_400, index * 2_400 + size),
  );
  const loudest = frames.reduce((most, frame) => Math.max(most, levelOf(frame)), 0);
  const powers = frames
    .filter((frame) => levelOf(frame) > loudest / 10)
    .map((frame) => {
      let power = 0;
      for (let hertz = lowest; hertz < highest; hertz += 50) {
        let [re, im] = [0, 0];
        for (const [at, sample] of frame.entries()) {
          const windowed = sample * (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size));
          re += windowed * Math.cos((2 * Math.PI * hertz * at) / 24_000);
          im += windowed * Math.sin((2 * Math.PI * hertz * at) / 24_000);
        }
        power += re * re + im * im;
      }
      return power;
    });
  return powers.toSorted((one, other) => one - other)[Math.floor(powers.length / 2)] ?? NaN;
}

describe('the cast', () => {
  test('has at least twelve voices: women, men, children, young and old', () => {
    expect(HIBARI_VOICES.length).toBeGreaterThanOrEqual(12);
    const descriptions = HIBARI_VOICES.map(({ description }) => description);
    for (const kind of [
      'adult woman',
      'adult man',
      'girl',
      'boy',
      'young woman',
      'young man',
      'old woman',
      'old man',
    ]) {
      expect(
        descriptions.some((one) => one.startsWith(`${kind};`)),
        kind,
      ).toBe(true);
    }
    expect(new Set(descriptions).size).toBe(descriptions.length);
  });

  test('has no two voices that are alike', () => {
    for (const [index, { id, variation: one }] of HIBARI_VOICES.entries()) {
      for (const { id: otherId, variation: other } of HIBARI_VOICES.slice(index + 1)) {
        const semitones = Math.abs(12 * Math.log2(one.pitch / other.pitch));
        const timbre = Math.abs(Math.log(one.stretch / other.stretch)) / 0.04;
        const distance = Math.hypot(semitones / 1.5, timbre, (one.pace - other.pace) / 0.1);
        expect(distance, `${id} and ${otherId}`).toBeGreaterThan(1);
      }
    }
  });

  test.each(HIBARI_VOICES.map((voice) => [voice.id, voice.description] as const))(
    '%s has the pitch of the described speaker: %s',
    async (voice, description) => {
      const text = 'The old man loved the yellow lemon.';
      const hertz = pitchOf(joined(await chunksOf(text, { voice })));
      const [lowest, highest] = /girl|boy/.test(description)
        ? [215, 330]
        : /woman/.test(description)
          ? [145, 260]
          : [75, 160];
      expect(hertz).toBeGreaterThan(lowest);
      expect(hertz).toBeLessThan(highest);
    },
  );
});
