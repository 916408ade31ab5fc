import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closest, nearestHint } from '../../src/text/did-you-mean.ts';

const COMMANDS = ['tts', 'jobs', 'voices', 'design', 'lipsync', 'live', 'profile', 'doctor'];
const FLAGS = ['--output', '--output-dir', '--voice', '--voice-name', '--volume', '--verbose'];

describe('suggestions', () => {
  it.each([
    ['voice', COMMANDS, ['voices']],
    ['vioces', COMMANDS, ['voices']],
    ['ttts', COMMANDS, ['tts']],
    ['TTS', COMMANDS, ['tts']],
    ['prof', COMMANDS, ['profile']],
    ['--ouput', FLAGS, ['--output']],
    ['--out', FLAGS, ['--output', '--output-dir']],
    ['--voise', FLAGS, ['--voice']],
    ['elephant', COMMANDS, []],
    ['', COMMANDS, []],
    ['v4', ['v3', 'v2', 'v1'], []],
    ['og', ['mp3', 'wav', 'ogg'], ['ogg']],
    ['--', FLAGS, []],
  ])('by %j', (given, candidates, expected) => {
    expect(closest(given, candidates)).toEqual(expected);
  });

  it('are a sentence with the closest candidate, else the given one', () => {
    expect(nearestHint('vioces', COMMANDS)).toBe('Did you mean voices?');
    expect(nearestHint('--out', FLAGS)).toBe('Did you mean --output?');
    expect(nearestHint('elephant', COMMANDS)).toBeUndefined();
    expect(nearestHint('elephant', COMMANDS, 'See `foley --help`.')).toBe('See `foley --help`.');
  });

  it('include every candidate at one typing mistake', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'b', 'c', 'd'),
      minLength: 3,
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        word,
        fc.nat(),
        fc.constantFrom('insert', 'remove', 'swap', 'change'),
        (meant, where, kind) => {
          const at = where % (meant.length - 1);
          const rest = meant.slice(at);
          const typed =
            meant.slice(0, at) +
            {
              insert: `x${rest}`,
              remove: rest.slice(1),
              swap: `${rest[1]}${rest[0]}${rest.slice(2)}`,
              change: `x${rest.slice(1)}`,
            }[kind];
          expect(closest(typed, [meant, 'zzzzzzzz'])).toEqual([meant]);
        },
      ),
    );
  });

  it('are empty for very long strings', () => {
    expect(closest('x'.repeat(100_000), ['x'.repeat(100_000)])).toEqual([]);
  });
});
