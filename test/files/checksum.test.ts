import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemFiles } from '../../src/system/file-system.ts';
import { checksumOf, createChecksum, kindOf } from '../../src/durable/checksum.ts';
import { createSandbox } from '../harness/sandbox.ts';

/** Of the nine digits, as the standards give it for a check. */
const OF_DIGITS = [
  ['crc32', 'cbf43926'],
  ['md5', '25f9e794323b453885f5181f1b624d0b'],
  ['sha256', '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225'],
] as const;

describe.each(OF_DIGITS)('a checksum of kind %s', (kind, ofDigits) => {
  it('has the known value, and its length shows its kind', () => {
    const checksum = createChecksum(kind);
    checksum.update(Buffer.from('123456789'));
    expect(checksum.value()).toBe(ofDigits);
    expect(kindOf(ofDigits)).toBe(kind);
  });

  it('is the same in whatever pieces it comes, and in a file', async () => {
    const { root } = await createSandbox();
    const file = path.join(root, 'content');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array()), async (pieces) => {
        const checksum = createChecksum(kind);
        for (const piece of pieces) checksum.update(piece);
        await writeFile(file, Buffer.concat(pieces));
        expect(checksum.value()).toBe(await checksumOf(file, kind, systemFiles));
      }),
    );
  });
});
