import { describe, expect, test } from 'vitest';
import { emptyFragments, encodeFrame, fragmented } from './frames.ts';

describe('frames', () => {
  test.each([0, 125, 126, 65_535, 65_536])(
    'of %i bytes have their length in the header',
    (length) => {
      const bytes = encodeFrame(Buffer.alloc(length));
      const lengthOf: Readonly<Record<number, () => number>> = {
        126: () => bytes.readUInt16BE(2),
        127: () => Number(bytes.readBigUInt64BE(2)),
      };
      const code = bytes[1] ?? 0;
      expect(lengthOf[code]?.() ?? code).toBe(length);
      expect(bytes.byteLength - length).toBe(code < 126 ? 2 : code === 126 ? 4 : 10);
    },
  );

  test('of fragments have the opcode in the first and FIN in the last', () => {
    const first = [...fragmented(Uint8Array.of(1, 2, 3), 2, false)];
    expect(first).toStrictEqual([0x02, 2, 1, 2, 0x80, 1, 3]);
    expect([...emptyFragments(3, false)]).toStrictEqual([2, 0, 0, 0, 0, 0]);
  });
});
