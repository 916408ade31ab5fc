import { array, assert, asyncProperty, constantFrom, nat, oneof, string, tuple } from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  alignSounds,
  type TimedSound,
  timedSounds,
  wordMarks,
} from '../../../../src/service/engine/flite/word-marks.ts';
import { createFliteEngine } from '../../../../src/service/engine/flite/engine.ts';
import { speakablePieces } from '../../../../src/service/engine/flite/speakable-text.ts';
import type { SpeechChunk, WordMark } from '../../../../src/service/engine/speech-engine.ts';
import { type Bundled, bundleEngine } from '../bundled.ts';
import { flite } from '../speak.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';

let bundled: Bundled;
beforeAll(async () => {
  bundled = await bundleEngine();
});
afterAll(() => bundled.remove());

const never = new AbortController().signal;

async function timed(text: string, { voice = 'kal16', isTimed = true } = {}) {
  const engine = createFliteEngine({ workerFile: bundled.workerFile });
  onTestFinished(() => engine.close());
  return chunksOf(engine.synthesize({ text, voice, speed: 1, pitch: 0, isTimed }, never));
}

async function chunksOf(chunks: AsyncIterable<SpeechChunk>): Promise<SpeechChunk[]> {
  const collected: SpeechChunk[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

function wordsOf(chunks: readonly SpeechChunk[]): readonly WordMark[] {
  return chunks.flatMap(({ words = [] }) => words);
}

function said(text: string, words: readonly WordMark[]): string[] {
  const characters = Array.from(text);
  return words.map(({ start, end }) => characters.slice(start, end).join(''));
}

describe('the words of a text that flite says', () => {
  test.each([
    [
      'as they are written',
      'It costs $42.50, Dr. Smith.',
      ['It', 'costs', '$42.50', 'Dr', 'Smith'],
    ],
    ['without the signs around them', '“Don’t — (please)!”', ['Don’t', 'please']],
    ['joined by a hyphen', 'a well‑known co-op', ['a', 'well‑known', 'co-op']],
    [
      'in one where it is written in one',
      '5µm at 20°C for € 5',
      ['5µm', 'at', '20°C', 'for', '€ 5'],
    ],
    ['with a number said otherwise after a name', 'Henry VIII sat.', ['Henry', 'VIII', 'sat']],
    ['in code points', '😀 Hi 👨‍👩‍👧 there', ['Hi', 'there']],
    ['with their accents', 'Café naïve ﬁne', ['Café', 'naïve', 'ﬁne']],
    ['of a range', 'pages 10–20', ['pages', '10', '20']],
    ['but those of other scripts', 'Say 你好 to me', ['Say', 'to', 'me']],
    ['of signs that are said', 'a & b', ['a', '&', 'b']],
    [
      'of abbreviations with their last full stop',
      'To the U.S. at 5 p.m. on May 3.',
      ['To', 'the', 'U.S.', 'at', '5', 'p.m.', 'on', 'May', '3'],
    ],
    ['of several sentences', 'One. Two! Three?', ['One', 'Two', 'Three']],
  ])('%s', async (_name, text, expected) => {
    expect(said(text, wordsOf(await timed(text)))).toEqual(expected);
  });

  test('follow the samples of their piece, and the samples say which piece that is', async () => {
    const text = 'One two. 你好。 Three.';
    const chunks = await timed(text);
    expect(chunks.map(({ samples }) => samples.length > 0)).toEqual([true, false, true, false]);
    expect(
      chunks.flatMap(({ span }) => said(text, span === undefined ? [] : [mark(span)])),
    ).toEqual(['One two. ', 'Three.']);
  });

  test('change no sample, and are only returned on request', async () => {
    const text = 'The quick brown fox. It jumps.';
    for (const voice of ['slt', 'kal16']) {
      const plain = await timed(text, { voice, isTimed: false });
      expect(wordsOf(plain)).toEqual([]);
      const heard = (await timed(text, { voice })).filter(({ samples }) => samples.length > 0);
      expect(heard.map(({ samples }) => samples)).toEqual(plain.map(({ samples }) => samples));
    }
  });

  test(
    'of any numbers are all there, in order and within the sound',
    { timeout: 300_000 },
    async () => {
      const engine = createFliteEngine({ workerFile: bundled.workerFile });
      onTestFinished(() => engine.close());
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
      const list = tuple(array(number, { minLength: 1, maxLength: 40 }), constantFrom(', ', ' '));
      const allAreTimed = asyncProperty(list, async ([numbers, separator]) => {
        const text = numbers.join(separator);
        const chunks = await chunksOf(
          engine.synthesize({ text, voice: 'kal16', speed: 1, pitch: 0, isTimed: true }, never),
        );
        const words = wordsOf(chunks);
        expect(said(text, words)).toEqual(numbers.map((one) => one.replace(/^-/, '')));
        const times = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        const lengthMs = chunks.reduce((sum, { samples }) => sum + samples.length / 16, 0);
        expect(times.at(-1)).toBeLessThanOrEqual(lengthMs + 0.001);
      });
      await assert(allAreTimed, { numRuns: IS_FULL ? 500 : 20 });
    },
  );

  test('of any text run forwards, in the text and in its sound', { timeout: 300_000 }, async () => {
    const engine = createFliteEngine({ workerFile: bundled.workerFile });
    onTestFinished(() => engine.close());
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
      const chunks = await chunksOf(
        engine.synthesize({ text, voice: 'kal16', speed: 1, pitch: 0, isTimed: true }, never),
      );
      const lengthMs = chunks.reduce((sum, { samples }) => sum + samples.length / 16, 0);
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
    await assert(runsForwards, { numRuns: IS_FULL ? 2_000 : 25 });
  });
});

function mark({ start, end }: { readonly start: number; readonly end: number }): WordMark {
  return { start, end, startMs: 0, endMs: 0 };
}

describe('sounds', () => {
  test('begin with the samples of their sentence, and end with them', () => {
    const lines = [
      { text: 'pau:0.100 ae:0.300 pau:0.500', samplesBefore: 0 },
      { text: 'b:0.200 pau:0.400', samplesBefore: 6_400 },
    ];
    expect(timedSounds(lines, 12_000, 16_000)).toEqual([
      { name: 'pau', startMs: 0, endMs: 100 },
      { name: 'ae', startMs: 100, endMs: 300 },
      { name: 'pau', startMs: 300, endMs: 400 },
      { name: 'b', startMs: 400, endMs: 600 },
      { name: 'pau', startMs: 600, endMs: 750 },
    ]);
  });

  test.each([
    [
      'as they are alone',
      'pau a b c d pau',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      [
        [10, 30],
        [30, 50],
      ],
    ],
    [
      'with another vowel',
      'pau dh ax k ae t',
      [
        ['dh', 'iy'],
        ['k', 'ae', 't'],
      ],
      [
        [10, 30],
        [30, 60],
      ],
    ],
    [
      'with a pause between',
      'pau a b pau c',
      [['a', 'b'], ['c']],
      [
        [10, 30],
        [40, 50],
      ],
    ],
    [
      'with a sound too many',
      'pau a b x c d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      [
        [10, 30],
        [40, 60],
      ],
    ],
    [
      'that are too different',
      'pau x y z q',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      undefined,
    ],
    ['that may be missing', 'pau a b', [['a'], ['*', 'x'], ['b']], [[10, 20], undefined, [20, 30]]],
    [
      'that may be missing and are not',
      'pau a * x b',
      [['a'], ['*', 'x'], ['b']],
      [
        [10, 20],
        [20, 40],
        [40, 50],
      ],
    ],
    ['that are missing', 'pau a b c d', [['a', 'b'], ['t'], ['c', 'd']], undefined],
  ])('%s', (_name, heard, words, expected) => {
    const times = alignSounds(
      sounds(heard),
      words.map((names) => ({ sounds: names, isOptional: names.includes('*') })),
    );
    expect(times?.map((time) => time && [time.startMs, time.endMs])).toEqual(expected);
  });

  test.each([
    [700, 700],
    [720, undefined],
  ])('are aligned up to a limit, because the table grows quadratically: %i', (count, expected) => {
    const words = Array.from({ length: count }, () => ({ sounds: ['a'], isOptional: false }));
    const times = alignSounds(sounds(words.map(() => 'a').join(' ')), words);
    expect(times?.length).toBe(expected);
  });
});

function sounds(names: string): TimedSound[] {
  return names.split(' ').map((name, at) => ({ name, startMs: at * 10, endMs: at * 10 + 10 }));
}

test('the words of a piece are found without speaking it', () => {
  const [piece] = speakablePieces('It’s £5!', 'GB');
  expect(piece?.words()).toEqual([
    { start: 0, end: 4, tokens: ["It's"] },
    { start: 5, end: 7, tokens: ['five', 'pounds!'] },
  ]);
});

describe('the words of a piece', () => {
  const [piece] = speakablePieces('One, three.', 'US');

  test('share the time by their sounds where other sounds were said', () => {
    if (piece === undefined) throw new Error('a piece is expected');
    const tokens = [
      ['w', 'ah', 'n'],
      ['th', 'r', 'iy', 'z', 'z', 'z'],
    ];
    const heard = sounds('pau k k k k pau k k k k pau');
    expect(
      wordMarks({ piece, words: piece.words(), sounds: heard, tokens, offsetMs: 1_000 }),
    ).toEqual([
      { start: 0, end: 3, startMs: 1_010, endMs: 1_040 },
      { start: 5, end: 10, startMs: 1_040, endMs: 1_100 },
    ]);
  });

  test('of a list of numbers are found by their sounds', () => {
    const text = Array.from({ length: 40 }, (_, at) => 400 + at).join(', ');
    for (const { text: spoken, words } of speakablePieces(text, 'US')) {
      const { sounds: heard } = flite().speak({
        text: spoken,
        voice: 'kal16',
        speed: 1,
        pitch: 0,
        isTimed: true,
      });
      const tokens = words().map(({ tokens: own }) => flite().pronounce(own).flat());
      const times = alignSounds(
        heard,
        tokens.map((names) => ({ sounds: names, isOptional: false })),
      );
      expect(times).toHaveLength(words().length);
    }
  });
});
