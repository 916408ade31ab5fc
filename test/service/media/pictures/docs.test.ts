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
    const ways = list(tiers.map(({ resolution }) => resolution));
    const credits = list(tiers.map((tier) => tier.credits));
    const references = list(tiers.map((tier) => tier.reference_limit));
    return `| image | ${id} | sizes ${ways} | ${credits} credits an image | at most ${references} reference images |`;
  });
  const videos = VIDEO_MODELS.map(({ id, variants: [first, ...others] }) => {
    const variants = [first, ...others].filter((variant) => variant !== undefined);
    const sizes = [...new Set(variants.map(({ size }) => size))].join(', ');
    const lengths = [...new Set(variants.map(({ seconds }) => seconds))].join(', ');
    const { width = 1, height = 1, seconds = 1, credits = 0 } = first ?? {};
    const rate = Math.floor((credits * 1_280 * 720) / (width * height * seconds));
    const limit = first?.reference_limit;
    return `| video | ${id} | ${sizes} lasting ${lengths} s | ${rate} credits a second of 1280x720 | at most ${limit} reference images |`;
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
