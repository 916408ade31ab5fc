import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { MediaTaskError } from '../../../src/service/media/child/messages.ts';
import { inspectReference } from '../../../src/service/media/pictures/reference.ts';
import { temporaryFolder } from '../../service/support/test-service.ts';
import { pngOf } from '../../service/media/pictures/png-of.ts';

describe('a reference', { timeout: 120_000 }, () => {
  test.each(['png', 'jpeg', 'webp'] as const)(
    'as %s is taken, in the size it is seen',
    async (format) => {
      const bytes = await picture(format);
      expect(await inspect(bytes)).toEqual({ width: 40, height: 30 });
    },
  );

  test('that is turned has the size after turning', async () => {
    const bytes = await sharp(await picture('jpeg'))
      .withMetadata({ orientation: 6 })
      .toBuffer();
    expect(await inspect(bytes)).toEqual({ width: 30, height: 40 });
  });

  test.each(['png', 'jpeg', 'webp'] as const)(
    'as %s cut anywhere is damaged, or has only lost its end',
    async (format) => {
      const whole = await picture(format);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 1 }), async (length) => {
          const given = await inspect(whole.subarray(0, length));
          // What comes after the last pixel may be missing.
          const isFound = length > whole.length - 20 && typeof given === 'object';
          if (!isFound) expect(['unsupported', 'unreadable']).toContain(given);
        }),
        { numRuns: 40 },
      );
    },
  );

  test.each<[string, Buffer | string]>([
    ['nothing', ''],
    ['a page', '<!doctype html><title>no</title>'],
    ['zeros', Buffer.alloc(1_000)],
    ['an svg', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
    [
      'an svg that names a file',
      '<svg xmlns="http://www.w3.org/2000/svg"><image href="/etc/passwd"/></svg>',
    ],
    ['a gif', Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64')],
    ['a list of other files', '#EXTM3U\nfile:///etc/passwd\n'],
  ])('that is %s is refused for what it is', async (_name, content) => {
    expect(await inspect(Buffer.from(content))).toBe('unsupported');
  });

  test('that is animated is refused', async () => {
    const frames = Buffer.alloc(8 * 16 * 3, 9).fill(200, 8 * 8 * 3);
    const raw = { width: 8, height: 16, channels: 3, pageHeight: 8 } as const;
    expect(await inspect(await sharp(frames, { raw }).webp().toBuffer())).toBe('unsupported');
  });

  test.each<[number, number, unknown]>([
    [1_000, 10, { width: 1_000, height: 10 }],
    [10, 1_000, { width: 10, height: 1_000 }],
    [1_001, 10, 'unsupported'],
    [10, 1_001, 'unsupported'],
  ])('of %d x %d pixels comes to %j', async (width, height, given) => {
    const background = '#d00';
    const line = sharp({ create: { width, height, channels: 3, background } });
    expect(await inspect(await line.png().toBuffer())).toEqual(given);
  });

  test('that would take gigabytes when decoded is refused before that', async () => {
    const bomb = pngOf(20_000, 20_000, deflateSync(Buffer.alloc(2_501 * 20_000), { level: 9 }));
    expect(bomb.length).toBeLessThan(200_000);
    expect(await inspect(bomb)).toBe('too-large');
    expect(await inspect(pngOf(60_000, 60_000, Buffer.alloc(10)))).toBe('too-large');
  });
});

async function picture(format: 'png' | 'jpeg' | 'webp'): Promise<Buffer> {
  const pixels = Buffer.from(Array.from({ length: 40 * 30 * 3 }, (_, at) => (at * 7919) % 251));
  const raw = { width: 40, height: 30, channels: 3 } as const;
  return sharp(pixels, { raw }).toFormat(format).toBuffer();
}

/** What comes of it: its size, or why it is refused. */
async function inspect(bytes: Uint8Array): Promise<unknown> {
  const file = join(await temporaryFolder(), 'reference');
  await writeFile(file, bytes);
  try {
    return await inspectReference(sharp, file);
  } catch (error) {
    if (error instanceof MediaTaskError) return error.reason;
    throw error;
  }
}
