import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ASPECT_RATIOS, MEDIA_ENDPOINTS } from '../../../../src/contract/media.ts';
import {
  IMAGE_MODELS,
  VIDEO_MODELS,
} from '../../../../src/service/media/catalogue/picture-models.ts';

const ROOT = new URL('../../../../', import.meta.url);
const page = readFile(new URL('docs/pictures.md', ROOT), 'utf8');

test('docs/pictures.md has the true row of every model', async () => {
  const images = IMAGE_MODELS.map(({ id, variants }) => {
    const tiers = variants.filter(({ aspect_ratio }) => aspect_ratio === '1:1');
    const sizes = tiers.map(({ resolution }) => resolution);
    const credits = tiers.map((tier) => tier.credits);
    const prices = sizes.map((size, at) =>
      sizes.length === 1 ? `${credits[at]}` : `${credits[at]} (${size})`,
    );
    return `| image | ${id} | ${sizes.length === 1 ? 'size' : 'sizes'} ${list(sizes)} | ${list(prices)} credits an image | at most ${referenceLimits(tiers)} |`;
  });
  const videos = VIDEO_MODELS.map(({ id, variants: [first, ...others] }) => {
    const variants = [first, ...others].filter((variant) => variant !== undefined);
    const sizes = [...new Set(variants.map(({ size }) => size))].join(', ');
    const lengths = [...new Set(variants.map(({ seconds }) => seconds))].join(', ');
    const { width = 1, height = 1, seconds = 1, credits = 0 } = first ?? {};
    const rate = Math.floor((credits * 1_280 * 720) / (width * height * seconds));
    const limit = first?.reference_limit ?? 0;
    return `| video | ${id} | sizes ${sizes}; lengths ${lengths} s | ${rate} credits a second for 1280x720 | at most ${referenceImages(limit)} |`;
  });
  const shown = (await page).split('\n').filter((line) => /^\| (image|video) \|/.test(line));
  expect(shown).toEqual([...images, ...videos]);
});

test('docs/pictures.md names every aspect ratio, and docs/api/media.md every endpoint', async () => {
  const text = await page;
  for (const ratio of ASPECT_RATIOS) expect(text).toContain(ratio);
  const apiPage = await readFile(new URL('docs/api/media.md', ROOT), 'utf8');
  for (const { path } of MEDIA_ENDPOINTS) expect(apiPage).toContain(path);
});

function list(values: readonly (string | number)[]): string {
  return values.join(', ');
}

type Tier = Readonly<Record<'resolution', string> & Record<'reference_limit', number>>;

/** Returns the limit of a model, such as `4 reference images for 1k, 0 for 2k and 4k`. */
function referenceLimits(tiers: readonly Tier[]): string {
  const limits = [...new Set(tiers.map((tier) => tier.reference_limit))];
  const [first = 0, ...others] = limits;
  if (others.length === 0) return referenceImages(first);
  const sizes = (limit: number) =>
    tiers
      .filter((tier) => tier.reference_limit === limit)
      .map(({ resolution }) => resolution)
      .join(' and ');
  const rest = others.map((limit) => `${limit} for ${sizes(limit)}`);
  return list([`${referenceImages(first)} for ${sizes(first)}`, ...rest]);
}

function referenceImages(limit: number): string {
  return `${limit} reference ${limit === 1 ? 'image' : 'images'}`;
}
