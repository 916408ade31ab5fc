import { describe, expect, test } from 'vitest';
import { createSandbox } from '../../harness/sandbox.ts';
import {
  LIP_SYNC,
  creditsOf,
  done,
  endOf,
  fetchResult,
  fixtureFile,
  post,
  serveFixtures,
  serveMedia,
} from '../../binary/support/media-calls.ts';
import { startServe } from '../../binary/support/serve.ts';
import { readMedia } from './read-mp4.ts';
import { decodesSilently } from './second-opinion.ts';
import { wavHead } from '../../harness/wav.ts';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { requireTool } from '../../harness/require-tool.ts';

const TIME = { timeout: 300_000 };
const FRAME = 0.1;
/** A tick of the clock of a whole file. */
const TICK = 0.001;

const VIDEOS = [
  ['h264.mp4', 'avc', 0],
  ['h264-moov-first.mp4', 'avc', 0],
  ['h264-fragmented.mp4', 'avc', 0],
  ['h264-rotated.mp4', 'avc', 270],
  ['hevc.mp4', 'hevc', 0],
  ['vp9.webm', 'vp9', 0],
  ['av1.mp4', 'av1', 0],
] as const;

test('the pictures of a source stay as they are, whatever they are coded in', TIME, async () => {
  const sandbox = await createSandbox();
  const service = await startServe([], { sandbox, timeoutMs: TIME.timeout });
  const audio = tones(7.35, 16_000);
  const made: Buffer[] = [];
  for (const [name, codec, rotation] of VIDEOS) {
    const files = await serveMedia({ video: await fixtureFile(name), audio });
    const data = await done(service, LIP_SYNC, urlsAt(files));
    expect(data, name).toMatchObject({ status: 'completed', error: null, credits_used: 80 });
    const { bytes, type } = await fetchResult(data);
    const [source, result] = [await readMedia(await fixtureFile(name)), await readMedia(bytes)];
    expect(type).toBe('video/mp4');
    expect(result, name).toMatchObject({
      format: 'MP4',
      video: { codec, rotation },
      audio: { codec: 'aac' },
      comment: expect.stringMatching(/^Sandbox rendering/),
    });
    const digests = source.video?.packets.map(({ digest }) => digest) ?? [];
    const copied = result.video?.packets.map(({ digest }) => digest) ?? [];
    expect(digests.slice(0, copied.length), name).toEqual(copied);
    expect(copied.length, name).toBeGreaterThanOrEqual(69);
    expect(result.video?.start, name).toBeCloseTo(0, 3);
    expectSeconds(result.seconds, 7.35);
    expectSeconds(result.audio?.end, 7.35);
    // Where pictures are reordered, the last one is held until the end of the file.
    expect(result.video?.end, name).toBeLessThan(7.35 + TICK);
    expect(result.video?.end, name).toBeGreaterThan(7.35 - 4 * FRAME);
    made.push(bytes);
  }
  for (const bytes of made) await decodesSilently(sandbox.out, bytes);
});

const SOUNDS = [
  ['beeps.mp3', 'mp3'],
  ['beeps.wav', 'aac'],
  ['beeps.m4a', 'aac'],
  ['beeps.ogg', 'aac'],
  ['beeps.opus', 'opus'],
  ['beeps.flac', 'aac'],
  ['beeps.aac', 'aac'],
  ['beeps-untagged.mp3', 'mp3'],
] as const;

test('exactly ten seconds are billed as ten, and are heard when they should be', TIME, async () => {
  const sandbox = await createSandbox();
  const service = await startServe([], { sandbox, timeoutMs: TIME.timeout });
  const made: (readonly [string, Buffer])[] = [];
  for (const [name, codec] of SOUNDS) {
    const sound = name === 'beeps.wav' ? tones(10, 16_000) : await fixtureFile(name);
    const files = await serveMedia({ video: await fixtureFile('h264.mp4'), audio: sound });
    const before = await creditsOf(service);
    const data = await done(service, LIP_SYNC, urlsAt(files));
    expect(data, name).toMatchObject({
      status: 'completed',
      billing_duration_seconds: 10,
      billing_rule: 'shorter_input_rounded_up',
      credits_used: 100,
      result: { audio_codec: codec, video_codec: 'avc', duration_seconds: 10 },
    });
    expect(before - (await creditsOf(service)), name).toBe(100);
    const { bytes } = await fetchResult(data);
    const { audio, video } = await readMedia(bytes);
    expect(audio?.codec, name).toBe(codec);
    expectSeconds(video?.end, 10);
    expect(audio?.end, name).toBeLessThan(10 + TICK);
    expect(audio?.end, name).toBeGreaterThan(10 - FRAME);
    made.push([name, bytes]);
  }
  for (const [name, bytes] of made) {
    await decodesSilently(sandbox.out, bytes);
    // The last two files do not state the padding of their encoders.
    const tolerance = /untagged|aac$/.test(name) ? 0.1 : 0.01;
    const heard = await tonesIn(sandbox.out, bytes);
    expect(heard, name).toHaveLength(10);
    for (const [second, at] of heard.entries()) {
      expect(Math.abs(at - second), name).toBeLessThan(tolerance);
    }
  }
});

describe('the length of what is made', () => {
  test(
    'is that of the audio where the video is extended, else of the shorter one',
    TIME,
    async () => {
      const sandbox = await createSandbox();
      const service = await startServe([], { sandbox, timeoutMs: TIME.timeout });
      const video = await fixtureFile('h264.mp4');
      const long = await serveMedia({ video, audio: tones(23.45, 22_050) });
      const extended = await done(service, LIP_SYNC, { ...urlsAt(long), video_extension: true });
      expect(extended).toMatchObject({
        status: 'completed',
        billing_duration_seconds: 24,
        billing_rule: 'audio_rounded_up',
        video_duration_seconds: 10,
        audio_duration_seconds: 23.45,
      });
      const { bytes } = await fetchResult(extended);
      const result = await readMedia(bytes);
      for (const seconds of [result.seconds, result.video?.end, result.audio?.end]) {
        expectSeconds(seconds, 23.45);
      }
      await decodesSilently(sandbox.out, bytes);
      expect(await tonesIn(sandbox.out, bytes)).toHaveLength(24);
      const stereo = await serveMedia({ video, audio: tones(12.2, 44_100, 2) });
      const cut = await done(service, LIP_SYNC, urlsAt(stereo));
      expect(cut).toMatchObject({ billing_duration_seconds: 10, audio_duration_seconds: 12.2 });
      const shorter = await fetchResult(cut);
      const { audio, seconds } = await readMedia(shorter.bytes);
      expectSeconds(seconds, 10);
      expectSeconds(audio?.end, 10);
      await decodesSilently(sandbox.out, shorter.bytes);
    },
  );
});

test('a sample rate that AAC does not know is brought to one that it knows', TIME, async () => {
  const sandbox = await createSandbox();
  const service = await startServe([], { sandbox, timeoutMs: TIME.timeout });
  const files = await serveMedia({
    video: await fixtureFile('h264.mp4'),
    audio: tones(3, 19_999, 2),
  });
  const { bytes } = await fetchResult(await done(service, LIP_SYNC, urlsAt(files)));
  await decodesSilently(sandbox.out, bytes);
  const heard = await tonesIn(sandbox.out, bytes);
  expect(heard.map((at) => Math.round(at * 50) / 50)).toEqual([0, 1, 2]);
});

test('each create is a job of its own, and the list has the newest first', TIME, async () => {
  const service = await startServe([], { timeoutMs: TIME.timeout });
  const files = await serveFixtures('h264.mp4', 'beeps.m4a');
  const body = { video_url: `${files}/h264.mp4`, audio_url: `${files}/beeps.m4a` };
  const headers = { 'Idempotency-Key': 'same', 'X-Request-Id': 'same' };
  const answers = [
    await post(service, LIP_SYNC, body, headers),
    await post(service, LIP_SYNC, body, headers),
    await post(service, '/api/open/lip-sync/create', body),
  ];
  const ids = answers.map((answer) => answer.body.data.id);
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) await endOf(service, LIP_SYNC, id);
  const list = Object(JSON.parse((await service.ask(LIP_SYNC)).bytes.toString()));
  expect(list.data.items.map((item: { readonly id: string }) => item.id)).toEqual(ids.toReversed());
});

test('a job that a fault rule makes fail costs nothing', TIME, async () => {
  const service = await startServe(['--fault', `POST ${LIP_SYNC}; job=fail`], {
    timeoutMs: TIME.timeout,
  });
  const files = await serveFixtures('h264.mp4', 'beeps.m4a');
  const body = { video_url: `${files}/h264.mp4`, audio_url: `${files}/beeps.m4a` };
  const before = await creditsOf(service);
  const data = await done(service, LIP_SYNC, body);
  expect(data).toMatchObject({
    status: 'failed',
    credits_used: 0,
    result: null,
    result_url: null,
    error: { code: 'ERR_GENERATION_FAILED' },
  });
  expect(await creditsOf(service)).toBe(before);
});

function expectSeconds(told: number | null | undefined, wanted: number): void {
  expect(Math.abs((told ?? 0) - wanted)).toBeLessThan(TICK);
}

function urlsAt(files: string) {
  return { video_url: `${files}/video`, audio_url: `${files}/audio` };
}

/** A tone of 440 Hz in the first tenth of every second, as a wav of 16 bits. */
function tones(seconds: number, sampleRate: number, channels: 1 | 2 = 1): Buffer {
  const frames = Math.round(seconds * sampleRate);
  const data = Buffer.alloc(frames * channels * 2);
  for (let frame = 0; frame < frames; frame += 1) {
    const time = frame / sampleRate;
    const value = time % 1 < 0.1 ? Math.sin(2 * Math.PI * 440 * time) * 16_000 : 0;
    for (let channel = 0; channel < channels; channel += 1) {
      data.writeInt16LE(Math.round(value), (frame * channels + channel) * 2);
    }
  }
  return Buffer.concat([wavHead(data.length, { sampleRate, channels }), data]);
}

/** When tones begin in the sound of a file as ffmpeg decodes it, in seconds. Skips where it is missing. */
async function tonesIn(folder: string, bytes: Uint8Array): Promise<readonly number[]> {
  const ffmpeg = requireTool('ffmpeg');
  const file = path.join(folder, 'heard.mp4');
  await writeFile(file, bytes);
  const args = ['-v', 'error', '-i', file, '-ac', '1', '-ar', '48000', '-f', 's16le', '-'];
  const { stdout } = await execa(ffmpeg, args, { encoding: 'buffer' });
  return onsets(Buffer.from(stdout));
}

const RATE = 48_000;

const LOUD = 3_000;

/** Quiet for so long before it. */
const GAP = RATE / 4;

function onsets(samples: Buffer): readonly number[] {
  const found: number[] = [];
  let lastLoud = -GAP;
  for (let at = 0; at * 2 < samples.length; at += 1) {
    if (Math.abs(samples.readInt16LE(at * 2)) < LOUD) continue;
    if (at - lastLoud >= GAP) found.push(at / RATE);
    lastLoud = at;
  }
  return found;
}
