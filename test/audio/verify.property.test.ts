import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Format } from '../../src/audio/formats.ts';
import { FORMATS, formatNamed } from '../../src/audio/formats.ts';
import { createVerifier } from '../../src/audio/verify.ts';
import type { AudioVerdict } from '../../src/audio/reader.ts';
import { apeTag, id3v1, id3v2, infoFrame, mp3Of, oggOf, opusOf, wavOf } from './samples.ts';
import { verifyBytes } from './verify-bytes.ts';

const mp3 = await mp3Of(0.3);
const SAMPLES: readonly (readonly [Format, Buffer])[] = [
  ['mp3', mp3],
  ['mp3', Buffer.concat([id3v2(200), mp3, apeTag(40), id3v1()])],
  ['mp3', Buffer.concat([infoFrame({ frames: 14, bytes: 14 * 209, delay: 9, padding: 9 }), mp3])],
  ['ogg', await oggOf(0.3)],
  ['opus', Buffer.concat([opusOf(5, 1), opusOf(4, 2)])],
  ['wav', wavOf(0.05)],
  ['wav', Buffer.concat([wavOf(0.05), Buffer.from('LIST\x05\0\0\0hello\0', 'latin1')])],
  ['pcm', Buffer.alloc(800, 1)],
  ['flac', Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(100)])],
];

function verdictInPieces(
  format: Format,
  bytes: Uint8Array,
  sizes: readonly number[],
): AudioVerdict {
  const verifier = createVerifier(format);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    // Overwrite each chunk: the caller may reuse it.
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    verifier.write(chunk);
    chunk.fill(0xee);
    at += size;
  }
  return verifier.end();
}

const sample = fc.constantFrom(...SAMPLES);
const sizes = fc
  .array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 8 })
  .filter((list) => list.some((size) => size > 0));
/** A sample file, whole, cut, or with bytes changed, removed or inserted. */
const nearlySound = fc
  .tuple(sample, fc.nat(10_000), fc.nat(300), fc.uint8Array({ maxLength: 40 }), fc.nat(10_000))
  .map(([[format, bytes], where, gone, put, cut]) => {
    const at = where % bytes.length;
    const changed = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + gone)]);
    return [format, changed.subarray(0, cut < 5000 ? changed.length : cut)] as const;
  });

describe('the verdict', () => {
  it('is the same for any chunks', () => {
    fc.assert(
      fc.property(fc.oneof(sample, nearlySound), sizes, ([format, bytes], pieces) => {
        expect(verdictInPieces(format, bytes, pieces)).toEqual(verifyBytes(format, bytes));
      }),
      { numRuns: 400 },
    );
  });

  it('is the same byte by byte', () => {
    for (const [format, bytes] of SAMPLES) {
      expect(verdictInPieces(format, bytes, [1])).toEqual(verifyBytes(format, bytes));
    }
  });

  it('exists for any bytes in any format', () => {
    const start = fc.constantFrom(
      '',
      '\xff\xfb\x90\x64',
      'ID3\x04\0\0\0\0\0\x09',
      'OggS\0\x02',
      'RIFF\0\0\0\0WAVE',
      'APETAGEX',
    );
    const format = fc.constantFrom(...Object.keys(FORMATS));
    fc.assert(
      fc.property(
        format,
        start,
        fc.uint8Array({ maxLength: 600 }),
        sizes,
        (name, begin, rest, pieces) => {
          const bytes = Buffer.concat([Buffer.from(begin, 'latin1'), rest]);
          const verdict = verdictInPieces(formatNamed(name) ?? 'pcm', bytes, pieces);
          expect(verdict.bytes).toBe(bytes.length);
          expect(verdict.complete).toBe(verdict.problem === undefined);
          expect(verdict.durationMs ?? 0).toBeGreaterThanOrEqual(0);
          expect(verdict.durationMs ?? 0).not.toBe(Infinity);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a file that is cut at any byte', () => {
  it.each([
    ['ogg', SAMPLES[3]?.[1]],
    ['opus', opusOf(6)],
    ['wav', wavOf(0.02)],
  ] satisfies [Format, Buffer | undefined][])('is seen to be cut: %s', (format, bytes) => {
    if (bytes === undefined) throw new Error('the sample is missing');
    expect(verifyBytes(format, bytes).complete).toBe(true);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(verifyBytes(format, bytes.subarray(0, length)).complete, `${length}`).toBe(false);
    }
  });

  it('is incomplete: an mp3, unless it is cut between two frames', () => {
    const frames = new Set(frameEdges(mp3));
    for (let length = 1; length < mp3.length; length += 1) {
      const verdict = verifyBytes('mp3', mp3.subarray(0, length));
      expect(verdict.complete, `${length}`).toBe(frames.has(length));
    }
    expect(frames.size).toBeGreaterThan(5);
  });

  it('is incomplete: an mp3 with an Info tag, even between two frames', () => {
    const edges = frameEdges(mp3);
    const tag = infoFrame({ frames: edges.length, bytes: mp3.length + 208, delay: 0, padding: 0 });
    const tagged = Buffer.concat([tag, mp3]);
    expect(verifyBytes('mp3', tagged).complete).toBe(true);
    for (let length = 0; length < tagged.length; length += 1) {
      expect(verifyBytes('mp3', tagged.subarray(0, length)).complete, `${length}`).toBe(false);
    }
  });
});

/** Returns the ends of the frames of an mp3 of 64 kbit/s at 44.1 kHz, from its padding bits. */
function frameEdges(bytes: Buffer): number[] {
  const edges: number[] = [];
  for (let at = 0; at < bytes.length;) {
    at += 208 + (((bytes[at + 2] ?? 0) >> 1) & 1);
    edges.push(at);
  }
  return edges;
}
