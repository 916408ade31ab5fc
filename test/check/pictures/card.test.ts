import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import type { PictureFormat } from '../../../src/contract/media.ts';
import { IMAGE_MODELS } from '../../../src/service/media/catalogue/picture-models.ts';
import type { ImageParameters } from '../../../src/service/media/pictures/card.ts';
import { cardSvg, drawImage, referencePlaces } from '../../../src/service/media/pictures/card.ts';
import { decodeWithFfmpeg } from '../../harness/second-opinion.ts';
import { temporaryFolder } from '../../service/support/test-service.ts';

const FONT = fileURLToPath(new URL('../../../assets/fonts/foley-sans.ttf', import.meta.url));
const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';

const VARIANTS = (IMAGE_MODELS.find(({ id }) => id === 'altH-image-2')?.variants ?? []).filter(
  ({ resolution, aspect_ratio }) =>
    IS_FULL || resolution === '1k' || (resolution === '2k' && aspect_ratio === '16:9'),
);

describe('an image', { timeout: 120_000 }, () => {
  test.each(VARIANTS.map((one) => [one.aspect_ratio, one.resolution, one] as const))(
    'of %s at %s has its exact size',
    async (_ratio, _resolution, { width, height }) => {
      const file = await draw({ width, height, format: 'jpeg' });
      const { info } = await sharp(file).raw().toBuffer({ resolveWithObject: true });
      expect(info).toMatchObject({ width, height, channels: 3 });
      await decodeWithFfmpeg(file);
    },
  );

  test.each<PictureFormat>(['png', 'jpeg', 'webp'])(
    'as %s is that, and says in its metadata what it is',
    async (format) => {
      const file = await draw({ format });
      const metadata = await sharp(file).metadata();
      expect(metadata).toMatchObject({ format, width: 512, height: 288 });
      const { exif, xmp } = metadata;
      expect((exif ?? xmp ?? Buffer.of()).toString('latin1')).toContain('Sandbox rendering');
      await decodeWithFfmpeg(file);
    },
  );

  test('is the same to the byte for the same prompt and seed, and another for others', async () => {
    const one = await digest(await draw({ prompt: 'a town', seed: 5 }));
    expect(await digest(await draw({ prompt: 'a town', seed: 5 }))).toBe(one);
    expect(await digest(await draw({ prompt: 'a town', seed: 6 }))).not.toBe(one);
    expect(await digest(await draw({ prompt: 'a lake', seed: 5 }))).not.toBe(one);
  });

  test('has its title in white letters at the bottom, and no boxes for what the font lacks', async () => {
    const letters = await whiteShare(await draw({ prompt: 'A lighthouse on a cliff at sunset' }));
    const none = await whiteShare(await draw({ prompt: '日没の崖の上の灯台' }));
    expect(letters).toBeGreaterThan(none * 2);
    expect(none).toBeGreaterThan(0);
  });

  test('takes signs of markup in the prompt for what they are', async () => {
    const prompt = `<span size="900000">&amp;</span> </text> ' " &#0; %s`;
    expect((await sharp(await draw({ prompt })).metadata()).width).toBe(512);
  });

  test('can be drawn of any prompt, into any size of the catalogue', async () => {
    const sizes = IMAGE_MODELS.flatMap(({ variants }) => variants);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
          // Marks with nothing under them, and words that are wider than the picture.
          fc.constantFrom('\u0301', '\u0301\u0323', 'W'.repeat(300), '\u2190', '.', '- '),
        ),
        fc.constantFrom(...sizes),
        async (prompt, { width, height }) => {
          const size = { width: Math.ceil(width / 4), height: Math.ceil(height / 4) };
          const { info } = await sharp(await draw({ prompt, ...size })).toBuffer({
            resolveWithObject: true,
          });
          expect(info).toMatchObject(size);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('shows each of its references, turned as they say', async () => {
    const folder = await temporaryFolder();
    const colours = ['#ff0000', '#00ff00', '#0000ff', '#ffff00'];
    const references = await Promise.all(
      colours.map(async (background, index) => {
        const file = join(folder, `${index}.${index % 2 === 0 ? 'png' : 'webp'}`);
        const plain = sharp({ create: { width: 90, height: 60, channels: 3, background } });
        const turned = plain.withMetadata({ orientation: 1 + index });
        await (index % 2 === 0 ? turned : turned.webp({ lossless: true })).toFile(file);
        return file;
      }),
    );
    const pixels = await sharp(await draw({ references }))
      .raw()
      .toBuffer();
    const seen = new Set<number>();
    for (let at = 0; at < pixels.length; at += 3) seen.add(pixels.readUIntBE(at, 3));
    for (const colour of colours) {
      expect(seen.has(Number.parseInt(colour.slice(1), 16)), colour).toBe(true);
    }
  });
});

test('the background has valid numbers and nothing of the prompt', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.nat({ max: 4_294_967_295 }),
      fc.integer({ min: 90, max: 2_048 }),
      fc.integer({ min: 90, max: 2_048 }),
      (prompt, seed, width, height) => {
        const svg = cardSvg(`${prompt}<image href="x"/>`, seed, { width, height });
        expect(svg).not.toMatch(/NaN|Infinity|undefined|href|<text/);
        expect(svg).toMatch(/^<svg .*<\/svg>$/);
      },
    ),
    { numRuns: 50 },
  );
});

test('references have places beside each other within the picture, above the letters', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 180, max: 2_048 }),
      fc.integer({ min: 180, max: 2_048 }),
      (count, width, height) => {
        const places = referencePlaces(count, { width, height });
        expect(places).toHaveLength(count);
        for (const [index, { left, top, width: wide, height: high }] of places.entries()) {
          expect(Math.min(left, top, wide, high)).toBeGreaterThan(0);
          expect(left + wide).toBeLessThanOrEqual(width);
          expect(top + high).toBeLessThanOrEqual(height * 0.68);
          for (const other of places.slice(index + 1)) {
            const isApart = left + wide <= other.left || top + high <= other.top;
            expect(isApart).toBe(true);
          }
        }
      },
    ),
  );
});

async function draw(order: Partial<ImageParameters>): Promise<string> {
  const { format = 'png' } = order;
  const output = join(await temporaryFolder(), `picture.${format}`);
  const plain = { prompt: 'A red fox', seed: 1, width: 512, height: 288, references: [] };
  await drawImage({ ...plain, fontFile: FONT, ...order, format, output });
  return output;
}

async function digest(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

/** How much of the lowest third is as white as letters are. */
async function whiteShare(file: string): Promise<number> {
  const { data } = await sharp(file)
    .extract({ left: 0, top: 192, width: 512, height: 96 })
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return data.filter((light) => light > 240).length / data.length;
}
