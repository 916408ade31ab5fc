import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BufferSource, EncodedPacketSink, Input, MP4 } from 'mediabunny';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { VIDEO_MODELS } from '../../../src/service/media/catalogue/picture-models.ts';
import { decodeWithFfmpeg } from '../../harness/media-opinion.ts';
import { sandbox } from '../../harness/sandbox.ts';
import { startServe } from '../support/serve.ts';
import { create, creditsOf, fetchResult, made, serveFiles } from './picture-calls.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const FRAMES_PER_SECOND = 24;
const SHORT = { prompt: 'Waves at noon', model: 'vendor-video-1-flash', seconds: 2 };

const VARIANTS = VIDEO_MODELS.flatMap(({ id, variants }) =>
  variants
    .filter(({ size, seconds }) => IS_FULL || (seconds === 2 && size !== '640x640'))
    .map(({ size, seconds, credits }) => [id, size, seconds, credits] as const),
);

describe('a video', () => {
  test.each(VARIANTS)(
    'of %s, %s and %d seconds is exactly that',
    async (model, size, seconds, credits) => {
      const service = await startServe();
      const body = { ...SHORT, model, size, seconds };
      const { data, progress } = await made(service, 'videos', body);
      expect(data).toMatchObject({ status: 'completed', size, seconds, credits_used: credits });
      expect([...progress]).toEqual([...progress].sort((a, b) => a - b));
      expect(progress.at(-1)).toBe(100);
      expect(await creditsOf(service)).toBe(1_000_000 - credits);
      const { type, bytes } = await fetchResult(data);
      expect(type).toBe('video/mp4');
      const [width, height] = size.split('x').map(Number);
      const frames = seconds * FRAMES_PER_SECOND;
      expect(await describeVideo(bytes)).toEqual({
        codec: 'avc',
        width,
        height,
        frames,
        seconds,
        sound: 'aac',
        colours: { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709', fullRange: false },
        comment: expect.stringContaining('Sandbox rendering'),
      });
      const box = await sandbox();
      const file = path.join(box.out, 'video.mp4');
      await writeFile(file, bytes);
      await decodeWithFfmpeg(file);
    },
    600_000,
  );

  test('is the same to the frame for the same prompt and seed', async () => {
    const service = await startServe();
    const frames = async (seed: number) => {
      const { data } = await made(service, 'videos', { ...SHORT, seed });
      return frameBytes((await fetchResult(data)).bytes);
    };
    const first = await frames(1);
    expect((await frames(1)).equals(first)).toBe(true);
    expect((await frames(2)).equals(first)).toBe(false);
  }, 300_000);

  test('begins with its first reference', async () => {
    const service = await startServe();
    const plain = { width: 80, height: 45, channels: 3, background: '#00ff00' } as const;
    const host = await serveFiles({ green: await sharp({ create: plain }).png().toBuffer() });
    const body = { ...SHORT, image_url: `${host}/green` };
    const { data } = await made(service, 'videos', body);
    expect(data).toMatchObject({ status: 'completed', reference_count: 1 });
    const scene = await made(service, 'videos', SHORT);
    const [green, drawn] = await Promise.all([fetchResult(data), fetchResult(scene.data)]);
    // A flat picture takes much less than a scene, whose frames all change.
    expect(green.bytes.length).toBeLessThan(drawn.bytes.length);
  }, 300_000);

  test.each([
    [{ size: '641x360' }, 'size'],
    [{ size: 'large' }, 'size'],
    [{ seconds: 3 }, 'seconds'],
    [{ seconds: 2.5 }, 'seconds'],
    [{ model: 'altH-image-2' }, 'model'],
    [{ image_urls: ['http://127.0.0.1:1/a', 'http://127.0.0.1:1/b'] }, 'image_urls'],
  ])('is refused with %j, naming the field', async (fields, field) => {
    const service = await startServe();
    const answer = await create(service, 'videos', { ...SHORT, ...fields });
    expect(answer).toMatchObject({ status: 400, body: { code: 'ERR_INVALID_REQUEST' } });
    expect(answer.body.details.errors[0].field).toBe(field);
    expect(await creditsOf(service)).toBe(1_000_000);
  });
});

async function describeVideo(bytes: Buffer) {
  const input = new Input({ source: new BufferSource(bytes), formats: [MP4] });
  const video = await input.getPrimaryVideoTrack();
  const audio = await input.getPrimaryAudioTrack();
  if (video === null || audio === null) throw new Error('a track is missing');
  const { colorSpace } = Object(await video.getDecoderConfig());
  return {
    codec: await video.getCodec(),
    width: await video.getDisplayWidth(),
    height: await video.getDisplayHeight(),
    frames: (await packets(input)).length,
    // Of the longest track.
    seconds: await input.computeDuration(),
    sound: await audio.getCodec(),
    colours: colorSpace,
    comment: (await input.getMetadataTags()).comment,
  };
}

async function frameBytes(bytes: Buffer): Promise<Buffer> {
  const input = new Input({ source: new BufferSource(bytes), formats: [MP4] });
  return Buffer.concat(await packets(input));
}

async function packets(input: Input): Promise<Uint8Array[]> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error('there is no video');
  const all: Uint8Array[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) all.push(packet.data);
  return all;
}
