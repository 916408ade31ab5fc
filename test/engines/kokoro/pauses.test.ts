import { describe, expect, it } from 'vitest';

const { fitToPauses, pauseBetween, pausesIn, withSilences } = await import(
  new URL('../../../engines/kokoro/pauses.mjs', import.meta.url).href
);

const RATE = 24_000;
const samplesIn = (ms: number): number => (ms * RATE) / 1000;

/** A tone of 300 Hz that is silent in some ranges of milliseconds. */
function toneWith(lengthMs: number, ...silent: readonly (readonly [number, number])[]) {
  return Float32Array.from({ length: samplesIn(lengthMs) }, (_, at) =>
    silent.some(([from, to]) => at >= samplesIn(from) && at < samplesIn(to))
      ? 0
      : 0.3 * Math.sin((2 * Math.PI * 300 * at) / RATE),
  );
}

const inMs = (value: object): unknown =>
  JSON.parse(JSON.stringify(value), (key, one) =>
    key === 'from' || key === 'to' ? (one * 1000) / RATE : one,
  );
const wordAt = (from: number, to: number) => ({ from: samplesIn(from), to: samplesIn(to) });
const fitted = (words: object[], sound: Float32Array): unknown =>
  inMs(fitToPauses(words, pausesIn(sound, RATE), RATE));

describe('the pauses of a chunk', () => {
  it('are its quiet runs, with those at the ends, but not the closures of consonants', () => {
    const sound = toneWith(1000, [0, 100], [300, 340], [500, 700], [900, 1000]);
    expect(inMs(pausesIn(sound, RATE))).toEqual([
      { from: 0, to: 100 },
      { from: 500, to: 700 },
      { from: 900, to: 1000 },
    ]);
    expect(pausesIn(new Float32Array(0), RATE)).toEqual([]);
  });

  it('end the word before and start the word after', () => {
    const words = [wordAt(60, 600), wordAt(650, 980)];
    const sound = toneWith(1000, [0, 100], [500, 700], [900, 1000]);
    expect(fitted(words, sound)).toEqual([
      { from: 100, to: 500 },
      { from: 700, to: 900 },
    ]);
  });

  it('inside of a word change nothing', () => {
    const words = [wordAt(0, 300), wordAt(300, 1000)];
    expect(fitted(words, toneWith(1000, [600, 700]))).toEqual(inMs(words));
  });

  it('between two words are the longest quiet run, or else the quietest place', () => {
    const words = [wordAt(0, 450), wordAt(600, 1000)];
    const between = (sound: Float32Array): unknown =>
      inMs(pauseBetween(sound, pausesIn(sound, RATE), words, RATE));
    expect(between(toneWith(1000, [300, 370], [450, 600]))).toEqual({ from: 450, to: 600 });
    expect(between(toneWith(1000, [500, 510]))).toEqual({ from: 505, to: 505 });
  });

  it('get longer without a click, and no sample is lost', () => {
    const sound = new Float32Array(samplesIn(100)).fill(0.5);
    const range = { from: samplesIn(10), to: samplesIn(90) };
    const silences = [
      { at: samplesIn(40), length: samplesIn(200) },
      { at: range.to, length: samplesIn(50) },
    ];
    const longer: Float32Array = withSilences(sound, range, silences, RATE);
    expect(longer).toHaveLength(samplesIn(80 + 250));
    const steps = longer.slice(1).map((sample, at) => Math.abs(sample - (longer[at] ?? 0)));
    expect(Math.max(...steps.subarray(0, samplesIn(275)))).toBeLessThan(0.01);
    expect(longer[samplesIn(15)]).toBe(0.5);
    expect(longer.subarray(samplesIn(30), samplesIn(230)).every((sample) => sample === 0)).toBe(
      true,
    );
  });
});
