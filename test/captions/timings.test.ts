import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/errors/failure.ts';
import { readTimings } from '../../src/captions/timings.ts';
import { timingsFile, timingsOf } from '../../src/captions/timings.ts';
import { arbitraryTimings } from './arbitrary-timings.ts';

const GOOD = {
  version: 1,
  text: 'Hello you',
  durationMs: 900,
  complete: true,
  words: [
    { text: 'Hello', startMs: 0, endMs: 310 },
    { text: 'you', startMs: 310, endMs: 900 },
  ],
};

function refusal(value: unknown): string {
  try {
    readTimings(value, 'talk.json');
  } catch (error) {
    if (error instanceof Failure && error.exit === 'usage') return error.message;
    throw error;
  }
  return 'taken';
}

describe('stored timings', () => {
  test('are read unchanged', () => {
    fc.assert(
      fc.property(arbitraryTimings(), (timings) => {
        expect(readTimings(JSON.parse(timingsFile(timings)), 'x')).toStrictEqual(timings);
      }),
      { numRuns: 100 },
    );
  });

  test('have a word on each line', () => {
    expect(timingsFile(readTimings(GOOD, 'x'))).toBe(
      '{"version":1,"text":"Hello you","durationMs":900,"complete":true,"words":[\n' +
        '{"text":"Hello","startMs":0,"endMs":310},\n{"text":"you","startMs":310,"endMs":900}\n]}\n',
    );
  });

  test('may have fields that a later version adds', () => {
    expect(readTimings({ ...GOOD, voice: 'x' }, 'x')).toStrictEqual(GOOD);
  });

  const word = (change: object): unknown => ({
    ...GOOD,
    words: [{ ...GOOD.words[0], ...change }, GOOD.words[1]],
  });

  test.each<readonly [value: unknown, message: string]>([
    [[], 'talk.json is not a JSON object'],
    [null, 'talk.json is not a JSON object'],
    [{ ...GOOD, version: undefined }, 'talk.json: "version" is missing; use 1'],
    [{ ...GOOD, version: '1' }, 'talk.json: "version" is "1"; use 1'],
    [{ ...GOOD, version: 2 }, 'talk.json: "version" is 2; this version of foley supports only 1'],
    [
      { ...GOOD, text: 7 },
      'talk.json: "text" is 7; use the text that was spoken, in valid Unicode',
    ],
    [
      { ...GOOD, text: '\ud800' },
      'talk.json: "text" is "\\ud800"; use the text that was spoken, in valid Unicode',
    ],
    [
      { ...GOOD, durationMs: -1 },
      'talk.json: "durationMs" is -1; use milliseconds, a number of at least 0',
    ],
    [{ ...GOOD, complete: 'yes' }, 'talk.json: "complete" is "yes"; use true or false'],
    [
      { ...GOOD, words: {} },
      'talk.json: "words" is {}; use an array of {"text","startMs","endMs"}',
    ],
    [{ ...GOOD, words: ['Hello'] }, 'talk.json: "words[0]" is "Hello"; use an object'],
    [word({ text: 1 }), 'talk.json: "words[0].text" is 1; use a text in valid Unicode'],
    [
      word({ startMs: '0' }),
      'talk.json: "words[0].startMs" is "0"; use milliseconds, a number of at least 0',
    ],
    [word({ startMs: 400 }), 'talk.json: "words[0].endMs" is 310; use at least "startMs", 400'],
    [
      word({ startMs: 400, endMs: 500 }),
      'talk.json: "words[1].startMs" is 310; use at least 400, the start of the word before',
    ],
    [word({ endMs: 901 }), 'talk.json: "words[0].endMs" is 901; use at most "durationMs", 900'],
  ])('%j is refused', (value, message) => {
    expect(refusal(value)).toBe(message);
  });
});

describe('timings of a service', () => {
  test('become whole milliseconds within the audio, in order, without overlaps', () => {
    const words = [
      { text: 'a', startMs: -3, endMs: 10.6 },
      { text: 'b', startMs: 9.5, endMs: 40 },
      { text: 'c', startMs: 8, endMs: 7 },
      { text: 'd', startMs: 95, endMs: 120 },
    ];
    expect(timingsOf({ text: 'a b c d', durationMs: 99.5, complete: false, words })).toStrictEqual({
      version: 1,
      text: 'a b c d',
      durationMs: 100,
      complete: false,
      words: [
        { text: 'a', startMs: 0, endMs: 10 },
        { text: 'b', startMs: 10, endMs: 10 },
        { text: 'c', startMs: 10, endMs: 10 },
        { text: 'd', startMs: 95, endMs: 100 },
      ],
    });
  });
});
