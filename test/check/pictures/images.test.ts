import { deflateSync } from 'node:zlib';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { decodeWithFfmpeg } from '../../harness/second-opinion.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { pngOf } from '../../service/media/pictures/png-of.ts';
import {
  IMAGES,
  creditsOf,
  done,
  endOf,
  fetchResult,
  post,
  serveForPictures,
  serveMedia,
} from '../../binary/support/media-calls.ts';

const SMALL = { prompt: 'A lighthouse at sunset', model: 'altH-image-2' };

/** What is asked for, and the format, the size and the price of what comes. */
const WAYS = [
  [{}, 'png', 1_024, 1_024, 60],
  [{ output_format: 'jpeg', aspect_ratio: '21:9' }, 'jpeg', 1_024, 438, 60],
  [{ output_format: 'webp', aspect_ratio: '9:16', resolution: '2k' }, 'webp', 1_152, 2_048, 120],
  [{ output_format: 'jpeg', resolution: '4k' }, 'jpeg', 4_096, 4_096, 240],
] as const;

describe('an image', () => {
  test('has the format and the exact size that it was asked for in, and its price', async () => {
    const service = await serveForPictures();
    let left = 1_000_000;
    for (const [fields, format, width, height, credits] of WAYS) {
      const data = await done(service, IMAGES, { ...SMALL, ...fields });
      expect(data).toMatchObject({ status: 'completed', progress: 100, width, height });
      left -= credits;
      expect(await creditsOf(service)).toBe(left);
      const { type, bytes } = await fetchResult(data);
      expect(type).toBe(`image/${format}`);
      const { info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
      expect([info.width, info.height]).toEqual([width, height]);
      expect(bytes.toString('latin1')).toContain('Sandbox rendering');
      await expectNoComplaint(bytes, format);
    }
  }, 300_000);

  test('is the same for the same prompt and seed, and says what its title leaves out', async () => {
    const service = await serveForPictures();
    const bytesOf = async (seed: number) => {
      const body = { ...SMALL, prompt: '灯台 at sunset', seed };
      const data = await done(service, IMAGES, body);
      expect(data.notices).toEqual([
        expect.stringMatching(/^Sandbox rendering/),
        'The title leaves out 2 characters of the prompt that its font does not have',
      ]);
      return (await fetchResult(data)).bytes;
    };
    const first = await bytesOf(1);
    expect((await bytesOf(1)).equals(first)).toBe(true);
    expect((await bytesOf(2)).equals(first)).toBe(false);
  }, 300_000);

  test('shows its references', async () => {
    const service = await serveForPictures();
    const colours = ['#ff0000', '#00ff00', '#0000ff', '#ffff00'];
    const files = await Promise.all(colours.map((colour) => plainPicture(colour)));
    const host = await serveMedia(Object.fromEntries(files.map((file, index) => [index, file])));
    const data = await done(service, IMAGES, {
      ...SMALL,
      image_urls: [0, 1, 2, 3].map((index) => `${host}/${index}`),
    });
    expect(data).toMatchObject({ status: 'completed', reference_count: 4 });
    const pixels = await sharp((await fetchResult(data)).bytes)
      .raw()
      .toBuffer();
    const seen = new Set<number>();
    for (let at = 0; at < pixels.length; at += 3) seen.add(pixels.readUIntBE(at, 3));
    for (const colour of colours) {
      expect(seen.has(Number.parseInt(colour.slice(1), 16)), colour).toBe(true);
    }
  }, 300_000);
});

describe('a reference that is no good', () => {
  test('is refused in the envelope, with nothing made and nothing charged', async () => {
    const service = await serveForPictures();
    const png = await plainPicture('#123456');
    const bomb = pngOf(20_000, 20_000, deflateSync(Buffer.alloc(2_501 * 20_000)));
    const host = await serveMedia({
      good: png,
      truncated: png.subarray(0, -60),
      bomb,
      svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
      html: Buffer.from('<!doctype html><title>no</title>'),
      empty: Buffer.alloc(0),
    });
    const cases = [
      ['truncated', 422, 'ERR_MEDIA_UNREADABLE', 'inspection'],
      ['bomb', 413, 'ERR_MEDIA_TOO_LARGE', 'inspection'],
      ['svg', 415, 'ERR_MEDIA_UNSUPPORTED', 'inspection'],
      ['html', 415, 'ERR_MEDIA_UNSUPPORTED', 'inspection'],
      ['empty', 415, 'ERR_MEDIA_UNSUPPORTED', 'inspection'],
      ['missing', 422, 'ERR_MEDIA_UNREACHABLE', 'download'],
    ] as const;
    for (const [name, status, code, stage] of cases) {
      const body = { ...SMALL, image_urls: [`${host}/good`, `${host}/${name}`] };
      const answer = await post(service, IMAGES, body, { 'Idempotency-Key': 'one-key' });
      expect(answer, name).toMatchObject({ status, body: { code } });
      expect(answer.body.message).toContain('image_urls.1 ');
      expect(answer.body.details).toEqual({ media_kind: 'image', stage, retryable: false });
    }
    expect(await creditsOf(service)).toBe(1_000_000);
    // The key was not used up by any of them.
    const { status } = await post(service, IMAGES, SMALL, { 'Idempotency-Key': 'one-key' });
    expect(status).toBe(202);
  }, 300_000);
});

describe('a create', () => {
  test('under the same key gives the original answer, whatever became of the job', async () => {
    const service = await serveForPictures();
    const first = await post(service, IMAGES, SMALL, { 'Idempotency-Key': 'same' });
    await endOf(service, IMAGES, first.body.data.id);
    const again = await post(service, IMAGES, SMALL, { 'Idempotency-Key': 'same' });
    expect(again.status).toBe(202);
    expect(again.body).toEqual(first.body);
    expect(again.headers['location']).toBe(first.headers['location']);
    expect(await creditsOf(service)).toBe(1_000_000 - 60);
    const other = await post(service, IMAGES, { ...SMALL, seed: 9 }, { 'Idempotency-Key': 'same' });
    expect(other).toMatchObject({ status: 409, body: { code: 'ERR_REQUEST_ID_CONFLICT' } });
  }, 300_000);

  test('whose job fails is refunded; one of a model that is unavailable makes none', async () => {
    const service = await serveForPictures([
      '--fault',
      'POST /api/open/v1/media/*/jobs; job=fail',
      '--unavailable',
      'altG-image-1',
    ]);
    const data = await done(service, IMAGES, SMALL);
    expect(data).toMatchObject({
      status: 'failed',
      credits_used: 0,
      result_url: null,
      error: { code: 'ERR_GENERATION_FAILED' },
    });
    const answer = await post(service, IMAGES, { ...SMALL, model: 'altG-image-1' });
    expect(answer).toMatchObject({ status: 503, body: { code: 'ERR_MODEL_UNAVAILABLE' } });
    expect(await creditsOf(service)).toBe(1_000_000);
  }, 300_000);
});

async function expectNoComplaint(bytes: Buffer, format: string): Promise<void> {
  const { out } = await createSandbox();
  const file = path.join(out, `picture.${format}`);
  await writeFile(file, bytes);
  await decodeWithFfmpeg(file);
}

async function plainPicture(background: string): Promise<Buffer> {
  const noise = Buffer.from(Array.from({ length: 30 * 3 }, (_, at) => (at * 91) % 256));
  return sharp({ create: { width: 60, height: 60, channels: 3, background } })
    .composite([{ input: noise, raw: { width: 30, height: 1, channels: 3 }, left: 0, top: 0 }])
    .png()
    .toBuffer();
}
