import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextEncodingError, createUtf8Decoder, decodeUtf8 } from '../../src/text/decode.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);
const encode = (text: string) => new TextEncoder().encode(text);

interface Outcome {
  readonly text?: string;
  readonly fault?: string;
  readonly byteOffset?: number;
  readonly line?: number;
}

function outcomeOf(run: () => string): Outcome {
  try {
    return { text: run() };
  } catch (error) {
    if (!(error instanceof TextEncodingError)) throw error;
    return { fault: error.fault, byteOffset: error.byteOffset, line: error.line };
  }
}

function decodeInPieces(all: Uint8Array, cuts: readonly number[]): string {
  const decoder = createUtf8Decoder();
  const edges = [
    0,
    ...cuts.map((cut) => cut % (all.length + 1)).toSorted((a, b) => a - b),
    all.length,
  ];
  let text = '';
  for (const [index, edge] of edges.slice(1).entries()) {
    // Overwrite the chunk: the caller may reuse it.
    const chunk = Buffer.from(all.subarray(edges[index], edge));
    text += decoder.write(chunk);
    chunk.fill(0x80);
  }
  return text + decoder.end();
}

describe('decoding UTF-8', () => {
  it('drops one byte order mark at the beginning and no other', () => {
    expect(decodeUtf8(encode('\ufeff\ufeffa\ufeff'))).toBe('\ufeffa\ufeff');
    expect(decodeUtf8(encode('\ufeff'))).toBe('');
  });

  it.each([
    ['a stray continuation', bytes(0x61, 0x80), { fault: 'invalid', byteOffset: 1, line: 1 }],
    ['Latin-1', bytes(0x0a, 0x63, 0xe9, 0x20), { fault: 'invalid', byteOffset: 2, line: 2 }],
    ['an overlong form', bytes(0xc0, 0xaf), { fault: 'invalid', byteOffset: 0, line: 1 }],
    ['an encoded surrogate', bytes(0xed, 0xa0, 0x80), { fault: 'invalid', byteOffset: 0, line: 1 }],
    ['above U+10FFFF', bytes(0xf4, 0x90, 0x80, 0x80), { fault: 'invalid', byteOffset: 0, line: 1 }],
    ['a cut character', bytes(0x61, 0xe2, 0x82), { fault: 'cut', byteOffset: 1, line: 1 }],
    [
      'an incomplete invalid character',
      bytes(0xf0, 0x80),
      { fault: 'invalid', byteOffset: 0, line: 1 },
    ],
    [
      'UTF-16, little-endian',
      bytes(0xff, 0xfe, 0x61, 0),
      { fault: 'utf-16le', byteOffset: 0, line: 1 },
    ],
    [
      'UTF-16, big-endian',
      bytes(0xfe, 0xff, 0, 0x61),
      { fault: 'utf-16be', byteOffset: 0, line: 1 },
    ],
    ['UTF-32', bytes(0xff, 0xfe, 0, 0, 0x61), { fault: 'utf-32le', byteOffset: 0, line: 1 }],
    ['half a UTF-16 mark', bytes(0xff), { fault: 'invalid', byteOffset: 0, line: 1 }],
  ])('refuses %s with its position', (_, given, expected) => {
    expect(outcomeOf(() => decodeUtf8(given))).toEqual(expected);
  });

  it('has a message with byte, offset and line', () => {
    expect(() => decodeUtf8(bytes(0x0a, 0xe9, 0x20))).toThrow(
      'not valid UTF-8: byte 0xe9 at offset 1, line 2',
    );
    expect(() => decodeUtf8(bytes(0xff, 0xfe))).toThrow('UTF-16 (little-endian), not UTF-8');
  });

  it('agrees with the platform', () => {
    const nearly = fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      fc.string({ unit: 'binary' }).map(encode),
      fc
        .tuple(fc.string({ unit: 'binary' }).map(encode), fc.uint8Array({ maxLength: 3 }))
        .map(([text, noise]) => Buffer.concat([text, noise, text])),
    );
    fc.assert(
      fc.property(nearly, (given) => {
        let expected: string | undefined;
        try {
          expected = new TextDecoder('utf-8', { fatal: true }).decode(given);
        } catch {
          expected = undefined;
        }
        const outcome = outcomeOf(() => decodeUtf8(given));
        expect(outcome.text).toBe(expected);
        if (outcome.byteOffset !== undefined && !outcome.fault?.startsWith('utf')) {
          const before = given.subarray(0, outcome.byteOffset);
          expect(() => new TextDecoder('utf-8', { fatal: true }).decode(before)).not.toThrow();
        }
      }),
    );
  });

  it('has the same result for any chunks', () => {
    const given = fc.oneof(
      fc.array(
        fc.constantFrom(0xef, 0xbb, 0xbf, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0x0a, 0x41),
      ),
      fc.constantFrom(
        [0xff, 0xfe, 0, 0],
        [0xff, 0xfe, 1],
        [0xfe, 0xff],
        [0xff],
        [0xef, 0xbb, 0xbf, 0x41],
      ),
    );
    fc.assert(
      fc.property(given, fc.array(fc.nat(40), { maxLength: 6 }), (values, cuts) => {
        const all = Uint8Array.from(values);
        expect(outcomeOf(() => decodeInPieces(all, cuts))).toEqual(
          outcomeOf(() => decodeUtf8(all)),
        );
      }),
      { numRuns: 1000 },
    );
  });
});
