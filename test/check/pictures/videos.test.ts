import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EncodedPacket } from 'mediabunny';
import { BufferSource, EncodedPacketSink, Input, MP4 } from 'mediabunny';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { VIDEO_MODELS } from '../../../src/service/media/catalogue/picture-models.ts';
import { decodeWithFfmpeg } from '../../harness/second-opinion.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import {
  VIDEOS,
  creditsOf,
  done,
  fetchResult,
  post,
  serveForPictures,
  serveMedia,
} from '../../binary/support/media-calls.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const FRAMES_PER_SECOND = 24;
const SHORT = { prompt: 'Waves at noon', model: 'vendor-video-1-flash', seconds: 2 };

const VARIANTS = VIDEO_MODELS.flatMap(({ id: model, variants }) =>
  variants
    .filter(
      ({ size, seconds }) =>
        IS_FULL || (seconds === 2 && size !== '640x640') || (seconds === 4 && size === '1920x1080'),
    )
    .map((variant) => ({ ...variant, model })),
);

describe('a video', () => {
  test('is exactly of the size and the length that it was asked for, at its price', async () => {
    const service = await serveForPictures(['--credits', '1000000']);
    let left = 1_000_000;
    for (const { model, size, seconds, credits, width, height } of VARIANTS) {
      const body = { ...SHORT, model, size, seconds };
      const progress: number[] = [];
      const data = await done(service, VIDEOS, body, (polled) => progress.push(polled.progress));
      expect(data).toMatchObject({ status: 'completed', size, seconds, credits_used: credits });
      expect([...progress]).toEqual([...progress].sort((a, b) => a - b));
      expect(progress.at(-1)).toBe(100);
      left -= credits;
      expect(await creditsOf(service)).toBe(left);
      const { type, bytes } = await fetchResult(data);
      expect(type).toBe('video/mp4');
      expect(await describeVideo(bytes)).toEqual({
        codec: 'avc',
        width,
        height,
        frames: seconds * FRAMES_PER_SECOND,
        keyFrames: seconds,
        seconds,
        sound: 'aac',
        colours: { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709', fullRange: false },
        comment: expect.stringContaining('Sandbox rendering'),
      });
      await expectNoComplaint(bytes);
    }
  }, 1_800_000);

  test('is the same to the frame for the same prompt, seed and reference, and moves', async () => {
    const service = await serveForPictures();
    const plain = { width: 80, height: 45, channels: 3, background: '#00ff00' } as const;
    const host = await serveMedia({ green: await sharp({ create: plain }).png().toBuffer() });
    const frames = async (fields: object) => {
      const data = await done(service, VIDEOS, { ...SHORT, ...fields });
      expect(data.reference_count).toBe('image_url' in fields ? 1 : 0);
      return framesOf((await fetchResult(data)).bytes);
    };
    const card = await frames({ seed: 1 });
    expect(await frames({ seed: 1 })).toEqual(card);
    expect(new Set(card).size).toBe(card.length);
    expect(await frames({ seed: 2 })).not.toEqual(card);
    expect(await frames({ seed: 1, image_url: `${host}/green` })).not.toEqual(card);
  }, 300_000);

  test('that its model does not offer is refused, naming the field', async () => {
    const service = await serveForPictures();
    const refused = [
      [{ size: '641x360' }, 'size'],
      [{ size: 'large' }, 'size'],
      [{ seconds: 3 }, 'seconds'],
      [{ seconds: 2.5 }, 'seconds'],
      [{ model: 'altH-image-2' }, 'model'],
      [{ image_urls: ['http://127.0.0.1:1/a', 'http://127.0.0.1:1/b'] }, 'image_urls'],
    ] as const;
    for (const [fields, field] of refused) {
      const answer = await post(service, VIDEOS, { ...SHORT, ...fields });
      expect(answer, field).toMatchObject({ status: 400, body: { code: 'ERR_INVALID_REQUEST' } });
      expect(answer.body.details.errors[0].field).toBe(field);
    }
    expect(await creditsOf(service)).toBe(1_000_000);
  }, 300_000);
});

async function expectNoComplaint(bytes: Buffer): Promise<void> {
  const { out } = await createSandbox();
  const file = path.join(out, 'video.mp4');
  await writeFile(file, bytes);
  await decodeWithFfmpeg(file);
}

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
    keyFrames: (await packets(input)).filter(({ type }) => type === 'key').length,
    // Of the longest track.
    seconds: await input.computeDuration(),
    sound: await audio.getCodec(),
    colours: colorSpace,
    comment: (await input.getMetadataTags()).comment,
  };
}

async function framesOf(bytes: Buffer): Promise<string[]> {
  const input = new Input({ source: new BufferSource(bytes), formats: [MP4] });
  return (await packets(input)).map(({ data }) => Buffer.from(data).toString('base64'));
}

async function packets(input: Input): Promise<EncodedPacket[]> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error('there is no video');
  const all: EncodedPacket[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) all.push(packet);
  return all;
}
