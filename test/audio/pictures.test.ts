import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import type { Format } from '../../src/audio/formats.ts';
import type { AudioVerdict } from '../../src/audio/reader.ts';
import { createVerifier } from '../../src/audio/verify.ts';
import { verifyBytes } from './verify-bytes.ts';

function sandbox(name: string, content = '', { size }: { size?: number } = {}): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size ?? 8 + content.length, 0);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, Buffer.from(content, 'latin1')]);
}

/** A box with a 64-bit size. */
function largeBox(name: string, content: string): Buffer {
  const head = sandbox(name, '', { size: 1 });
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(16 + content.length));
  return Buffer.concat([head, size, Buffer.from(content)]);
}

const FTYP = sandbox('ftyp', 'isom\u0000\u0000\u0002\u0000isomiso2avc1mp41');
const MP4 = Buffer.concat([FTYP, sandbox('moov', 'i'.repeat(40)), sandbox('mdat', 'm'.repeat(90))]);

const picture = sharp({
  create: {
    width: 48,
    height: 40,
    channels: 3,
    background: '#205080',
    noise: { type: 'gaussian', mean: 120, sigma: 40 },
  },
});
const GOOD: readonly (readonly [Format, Buffer])[] = [
  ['mp4', MP4],
  ['png', await picture.clone().png().toBuffer()],
  ['jpeg', await picture.clone().jpeg({ progressive: true }).toBuffer()],
  ['webp', await picture.clone().webp().toBuffer()],
  [
    'webp',
    await picture
      .clone()
      .webp({ lossless: true })
      .withExif({ IFD0: { Software: 'x' } })
      .toBuffer(),
  ],
];

function inPieces(format: Format, bytes: Uint8Array, sizes: readonly number[]): AudioVerdict {
  const verifier = createVerifier(format);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const next = at + (sizes[turn % sizes.length] ?? 1);
    verifier.write(bytes.subarray(at, next));
    at = next;
  }
  return verifier.end();
}

describe.each(GOOD)('%s', (format, bytes) => {
  test('is complete, for any chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }), (sizes) => {
        const verdict = inPieces(format, bytes, sizes);
        expect(verdict).toMatchObject({ complete: true, endIsProven: true, bytes: bytes.length });
      }),
    );
  });

  test('is incomplete, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), (length) => {
        const { complete, problem } = verifyBytes(format, bytes.subarray(0, length));
        expect(complete).toBe(false);
        expect(problem).toMatch(/is cut|is empty|has no/);
      }),
    );
  });

  test.each(['%!PS', '<!DOCTYPE html><p>Log in', '{"code":"ERR"}', 'ID3 and more of it'])(
    'is not %s',
    (text) => {
      const { complete, problem } = verifyBytes(format, Buffer.from(text));
      expect(complete).toBe(false);
      expect(problem).toContain('is ');
    },
  );
});

test.each(GOOD.filter(([format]) => format === 'png' || format === 'webp'))(
  '%s with bytes after its end is incomplete',
  (format, bytes) => {
    const longer = Buffer.concat([bytes, Buffer.from('and more')]);
    expect(verifyBytes(format, longer).problem).toMatch(/after its end/);
  },
);

test('a png with one wrong bit is damaged', () => {
  const [, png] = GOOD[1] ?? [];
  if (png === undefined) throw new Error('there is no png');
  fc.assert(
    fc.property(fc.nat(png.length - 1), fc.nat(7), (at, bit) => {
      const damaged = Buffer.from(png);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
      expect(verifyBytes('png', damaged).complete).toBe(false);
    }),
  );
});

test('a jpeg may have bytes after its end, as cameras write', () => {
  const [, jpeg] = GOOD[2] ?? [];
  if (jpeg === undefined) throw new Error('there is no jpeg');
  const longer = Buffer.concat([jpeg, Buffer.from('a preview')]);
  expect(verifyBytes('jpeg', longer)).toMatchObject({ complete: true, endIsProven: true });
});

describe('an mp4', () => {
  const moov = sandbox('moov', 'index');
  test.each<[string, Buffer, object]>([
    [
      'with its index at the end',
      Buffer.concat([FTYP, sandbox('mdat', 'm'), moov]),
      { complete: true },
    ],
    ['with a large box', Buffer.concat([FTYP, moov, largeBox('mdat', 'mmm')]), { complete: true }],
    [
      'whose last box is open: the end is not proven',
      Buffer.concat([FTYP, moov, sandbox('mdat', 'mmm', { size: 0 })]),
      { complete: true, endIsProven: false },
    ],
    ['without an index', Buffer.concat([FTYP, sandbox('mdat', 'm')]), { complete: false }],
    ['without media', Buffer.concat([FTYP, moov]), { complete: false }],
    [
      'with a box shorter than its header',
      Buffer.concat([FTYP, sandbox('moov', '', { size: 7 })]),
      { complete: false },
    ],
    [
      'with bytes that are not a box',
      Buffer.concat([FTYP, sandbox('\u0000\u0001\u0002\u0003', 'x')]),
      { complete: false },
    ],
  ])('%s', (_, bytes, verdict) => {
    expect(verifyBytes('mp4', bytes)).toMatchObject(verdict);
  });
});
