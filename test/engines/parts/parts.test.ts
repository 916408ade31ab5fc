import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { independentMeter } from '../../harness/independent-meter.ts';
import { standInModel } from '../kokoro/stand-in.ts';

const part = (name: string) =>
  import(new URL(`../../../engines/parts/${name}.mjs`, import.meta.url).href);
const { loudness } = await part('level');
const { requireFinite, soundIn, toPcm } = await part('audio');
const { BREAK, breakIn, chunksOf, sentencesOf } = await part('chunks');
const { readModel } = await part('onnx');
const { loadPhonemes } = await part('phonemes');

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Spoken {
  readonly phonemes: readonly string[];
  readonly gap: string;
  readonly ranges: readonly Range[];
}

const RATE = 24_000;

function tone(seconds: number, amplitude: number, hertz = 300): Float32Array {
  return Float32Array.from(
    { length: seconds * RATE },
    (_, at) => amplitude * Math.sin((2 * Math.PI * hertz * at) / RATE),
  );
}

function unitsOf(sizes: readonly (readonly [number, number])[]): readonly object[] {
  return sizes.map(([size, kind]) => ({ size, break: kind }));
}

function lengths(of: readonly object[]): readonly number[] {
  const chunks: readonly object[][] = chunksOf(of, { first: 12, min: 40, max: 110 });
  return chunks.map((chunk) => chunk.length);
}

async function modelFile(bytes: Uint8Array): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-onnx-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'model.onnx');
  await writeFile(file, bytes);
  return file;
}

describe('the loudness', () => {
  it.each([8000, 16_000, 22_050, 24_000, 48_000])(
    'at %i Hz is that of another meter',
    async (rate) => {
      const meter = await independentMeter();
      const random = Float32Array.from(
        { length: rate * 3 },
        (_, at) => 0.3 * Math.sin(at / 7) * Math.sin(at / 9000) + 0.02 * Math.sin(at / 3),
      );
      expect(loudness(random, rate)).toBeCloseTo(meter.mono(rate, random), 0);
    },
  );

  it('leaves out the silence between sentences', () => {
    const speech = tone(2, 0.2);
    const withPause = new Float32Array(RATE * 6);
    withPause.set(speech);
    expect(loudness(withPause, RATE)).toBeCloseTo(loudness(speech, RATE), 0);
    expect(loudness(new Float32Array(RATE), RATE)).toBe(-Infinity);
    expect(loudness(new Float32Array(0), RATE)).toBe(-Infinity);
    expect(loudness(speech.subarray(0, 2000), RATE)).toBeCloseTo(loudness(speech, RATE), 0);
  });
});

describe('the audio of a model', () => {
  it('loses the silence around it, except for a margin', () => {
    const samples = new Float32Array(RATE * 3);
    samples.set(tone(1, 0.3), RATE);
    expect(soundIn(samples, RATE, 50)).toEqual({ from: RATE - 1200, to: RATE * 2 + 1200 });
    expect(soundIn(tone(1, 0.3), RATE, 50)).toEqual({ from: 0, to: RATE });
    expect(soundIn(new Float32Array(RATE), RATE, 50)).toEqual({ from: 0, to: 0 });
    expect(soundIn(new Float32Array(0), RATE, 50)).toEqual({ from: 0, to: 0 });
  });

  it('gets louder without passing full scale', () => {
    const pcm = toPcm(tone(0.1, 0.1), 6);
    expect(Math.max(...pcm)).toBeCloseTo(0.1 * 10 ** (6 / 20) * 32_768, -2);
    expect(Math.max(...toPcm(tone(0.1, 1), 30))).toBeLessThanOrEqual(32_767);
  });

  it('is refused if a sample is not a number', () => {
    expect(() => requireFinite(Float32Array.of(0, 1))).not.toThrow();
    expect(() => requireFinite(Float32Array.of(0, NaN))).toThrow('not a number');
    expect(() => requireFinite(Float32Array.of(Infinity))).toThrow('not a number');
  });
});

describe('the chunks of a text', () => {
  it('keep every unit in order, within the sizes', () => {
    const unit = fc.record({
      size: fc.integer({ min: 1, max: 30 }),
      break: fc.constantFrom(...Object.values<number>(BREAK)),
    });
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 60 }), (units) => {
        const chunks: { size: number }[][] = chunksOf(units, { first: 12, min: 40, max: 110 });
        expect(chunks.flat()).toEqual(units);
        const sizes = chunks.map((chunk) => chunk.reduce((sum, { size }) => sum + size, 0));
        expect(sizes.every((size) => size > 0 && size <= 110)).toBe(true);
        expect(sizes.slice(1, -1).every((size) => size >= 40)).toBe(true);
      }),
    );
  });

  it('begin with a short one, and end at the strongest break', () => {
    const { comma, sentence, word } = BREAK;
    expect(
      lengths(
        unitsOf([
          [10, comma],
          [10, comma],
          [20, sentence],
          [20, sentence],
        ]),
      ),
    ).toEqual([2, 2]);
    expect(
      lengths(
        unitsOf([
          [5, sentence],
          [50, comma],
          [20, sentence],
          [30, word],
        ]),
      ),
    ).toEqual([1, 3]);
    expect(
      lengths(
        unitsOf([
          [9, sentence],
          [50, sentence],
          [20, comma],
          [90, word],
        ]),
      ),
    ).toEqual([1, 1, 2]);
    expect(
      lengths(
        unitsOf([
          [900, word],
          [10, sentence],
        ]),
      ),
    ).toEqual([1, 1]);
    expect(
      lengths(
        unitsOf([
          [10, comma],
          [20, sentence],
          [20, word],
        ]),
      ),
    ).toEqual([3]);
    expect(lengths([])).toEqual([]);
  });

  it('come from sentences, which keep every character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (text) => {
        const sentences: { text: string; start: number }[] = sentencesOf(text, 'en-US');
        expect(sentences.map((one) => one.text).join('')).toBe(text);
        let start = 0;
        for (const sentence of sentences) {
          expect(sentence.start).toBe(start);
          start += Array.from(sentence.text).length;
        }
      }),
    );
    const long: { text: string }[] = sentencesOf('word '.repeat(1000), 'en-US');
    expect(long.every(({ text }) => text.length <= 1000 && text.endsWith('word '))).toBe(true);
  });

  it('know the breaks of several scripts', () => {
    expect([' ', ', ', '; ', ' — ', '. ', '…', '। '].map(breakIn)).toEqual([0, 1, 2, 2, 3, 3, 3]);
  });
});

describe('reading an ONNX model', () => {
  it('appends an output, and changes no other byte', async () => {
    const bytes = standInModel();
    const { bytes: read, exposed } = await readModel(await modelFile(bytes), { expose: ['Clip'] });
    expect(exposed).toEqual(['durations']);
    expect(Buffer.from(read.subarray(0, bytes.length))).toEqual(bytes);
    expect(read.length - bytes.length).toBe('durations'.length + 6);
    expect(Buffer.from((await readModel(await modelFile(bytes), {})).bytes).subarray(0, 9)).toEqual(
      bytes.subarray(0, 9),
    );
  });

  it('refuses an operator that does not occur exactly once', async () => {
    const file = await modelFile(standInModel());
    await expect(readModel(file, { expose: ['Ceil'] })).rejects.toThrow('0 nodes of type Ceil');
    await expect(readModel(file, { expose: ['Mul'] })).rejects.toThrow('5 nodes of type Mul');
  });

  it('refuses what is not an ONNX model, and damaged files do not hang', async () => {
    const good = standInModel();
    await expect(
      readModel(await modelFile(Buffer.from('<html>not found</html>')), { expose: ['Clip'] }),
    ).rejects.toThrow();
    for (const length of [1, 10, 100, good.length - 1]) {
      const file = await modelFile(good.subarray(0, length));
      await expect(readModel(file, { expose: ['Clip'] })).rejects.toThrow();
    }
  });
});

describe('the phonemes of a text', async () => {
  const phonemize = await loadPhonemes();
  const sounds = (voice: string) =>
    (phonemize('water', voice).spoken as Spoken[])
      .map(({ phonemes }) => phonemes.join(''))
      .join(' ');

  it('come with the place of their words and the punctuation between', () => {
    const text = 'Yes 🙂: the end of the “day”!';
    const { spoken, gap } = phonemize(text.replace('🙂', 'x𝒳'), 'en-us');
    const words = (spoken as Spoken[]).map(({ ranges }) =>
      ranges.map(({ start, end }) =>
        Array.from(text.replace('🙂', 'x𝒳')).slice(start, end).join(''),
      ),
    );
    expect(words.flat()).toEqual(['Yes', 'x𝒳', 'the', 'end', 'of', 'the', 'day']);
    expect(words).toContainEqual(['of', 'the']);
    expect(gap).toBe('”!');
    expect((spoken as Spoken[])[0]).toMatchObject({ phonemes: ['j', 'ˈɛ', 's'], gap: '' });
  });

  it.each([
    ['She said (quietly) - well.', ['ʃiː', 'sˈɛd', 'kwˈaɪətli', 'wˈɛl']],
    ['pretty. remember.', ['pɹˈɪɾi', 'ɹᵻmˈɛmbɚ']],
  ])('belong to their word, also after a dash or a period: %s', (text, wanted) => {
    const { spoken } = phonemize(text, 'en-us');
    expect((spoken as Spoken[]).map(({ phonemes }) => phonemes.join(''))).toEqual(wanted);
  });

  it('are the same whatever was spoken before', () => {
    const british = sounds('en-gb-x-rp');
    expect(british).toBe('wˈɔːtɐ');
    expect(sounds('en-us')).toBe('wˈɔːɾɚ');
    expect(sounds('en-gb-x-rp')).toBe(british);
  });

  it('never contain what would be a command of espeak-ng', () => {
    for (const text of [
      'a <break time="9s"/> b',
      'a [[h@l@U]] b',
      '\u0001\u0007 &amp; b',
      '\uD83D',
    ]) {
      expect(() => phonemize(text, 'en-us')).not.toThrow();
    }
    expect(phonemize('', 'en-us').spoken).toEqual([]);
    expect(() => phonemize('word '.repeat(4000), 'en-us')).toThrow('too long');
  });
});
