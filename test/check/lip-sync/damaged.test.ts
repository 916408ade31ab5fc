import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSandbox } from '../../harness/sandbox.ts';
import { drawn, underSeed } from '../../harness/seed.ts';
import {
  DUBBING,
  LIP_SYNC,
  creditsOf,
  fixtureFile,
  post,
  serveMedia,
} from '../../binary/support/media-calls.ts';
import { firstVoiceId, startServe } from '../../binary/support/serve.ts';

const isFull = process.env['FOLEY_TEST_SIZE'] === 'full';
const FILES = isFull ? 300 : 30;
const AT_ONCE = 2;
const TIME = { timeout: 900_000 };
const BROKEN = ['h264.mp4', 'h264-moov-first.mp4', 'h264-rotated.mp4', 'hevc.mp4', 'av1.mp4'];

test(
  `${FILES} damaged videos: each is refused with a 4xx in the envelope, nothing is charged, and the service lives`,
  TIME,
  () =>
    underSeed(async (seed) => {
      const sandbox = await createSandbox();
      const service = await startServe(['--data-dir', 'data'], {
        sandbox,
        timeoutMs: TIME.timeout,
      });
      const reference_id = await firstVoiceId(service);
      const sources = await Promise.all(BROKEN.map((name) => fixtureFile(name)));
      const drawings = drawn(fc.tuple(fc.constantFrom(...sources), damages), FILES, seed);
      const files = drawings.map(([source, damage]) => damage(source));
      const base = await serveMedia({
        ...Object.fromEntries(files.map((bytes, number) => [`broken-${number}`, bytes])),
        good: await fixtureFile('beeps.m4a'),
      });
      const before = await creditsOf(service);
      const numbers = [...files.keys()];
      const ask = async (): Promise<void> => {
        for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
          const video_url = `${base}/broken-${number}`;
          const [path, rest] =
            number % 4 === 0
              ? [LIP_SYNC, { audio_url: `${base}/good` }]
              : [DUBBING, { text: 'Hello.', reference_id }];
          const { body: answer, status } = await post(service, path, { video_url, ...rest });
          const shown = `file ${number}: ${status} ${JSON.stringify(answer)}`;
          expect([413, 415, 422], shown).toContain(status);
          expect(answer, shown).toMatchObject({
            code: expect.stringMatching(/^ERR_MEDIA_/),
            message: expect.stringMatching(/^video_url /),
            requestId: expect.any(String),
            details: { media_kind: 'video', stage: 'inspection', retryable: false },
          });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, ask));
      expect(await creditsOf(service)).toBe(before);
      const { bytes } = await service.ask(LIP_SYNC);
      expect(Object(JSON.parse(bytes.toString())).data.items).toEqual([]);
      expect(await readdir(join(sandbox.out, 'data', 'media'))).toEqual([]);
    }),
);

/** A way to break a media file, with the numbers that it draws. */
type Damage = (bytes: Buffer) => Buffer;

/** Tables of an mp4 that say how many samples there are, how long, how large and where they are. */
const TABLES = ['stts', 'stsz', 'stsc', 'stco', 'ctts'];

/**
 * Ways to break an mp4 so that no part of it can be shown: it is cut, its index is noise, its tables lie,
 * or its boxes do not fit.
 */
const damages: fc.Arbitrary<Damage> = fc.oneof(
  fc.double({ min: 0.001, max: 0.97, noNaN: true }).map(
    (share): Damage =>
      (bytes) =>
        bytes.subarray(0, Math.floor(bytes.length * share)),
  ),
  fc.tuple(fc.constantFrom(...TABLES), fc.integer({ min: 2 ** 20, max: 2 ** 32 - 1 })).map(
    ([table, count]): Damage =>
      (bytes) =>
        withCount(bytes, table, count),
  ),
  fc.tuple(fc.constantFrom(...TABLES), fc.uint8Array({ minLength: 24, maxLength: 24 })).map(
    ([table, noise]): Damage =>
      (bytes) =>
        withNoise(bytes, table, noise),
  ),
  fc
    .tuple(
      fc.constantFrom('moov', 'trak', 'mdia', 'stbl', 'mdhd'),
      fc.integer({ min: 1, max: 2 ** 31 }),
    )
    .map(
      ([sandbox, size]): Damage =>
        (bytes) =>
          withSize(bytes, sandbox, size),
    ),
  fc.constantFrom('mvhd', 'mdhd').map(
    (sandbox): Damage =>
      (bytes) =>
        withoutClock(bytes, sandbox),
  ),
  fc.uint8Array({ minLength: 64, maxLength: 4_096 }).map(
    (noise): Damage =>
      (bytes) =>
        Buffer.concat([bytes.subarray(0, 32), noise]),
  ),
);

/** Where the content of the first box of a type begins. */
function contentOf(bytes: Buffer, type: string): number {
  const at = bytes.indexOf(type, 0, 'latin1');
  // Not every file has every table; every one has this.
  return at === -1 ? bytes.indexOf('stsz', 0, 'latin1') + 4 : at + 4;
}

function withCount(bytes: Buffer, table: string, count: number): Buffer {
  const copy = Buffer.from(bytes);
  const at = contentOf(copy, table);
  const isSizes = copy.toString('latin1', at - 4, at) === 'stsz';
  copy.writeUInt32BE(count, at + (isSizes ? 8 : 4));
  return copy;
}

function withNoise(bytes: Buffer, table: string, noise: Uint8Array): Buffer {
  const copy = Buffer.from(bytes);
  // Any count that fits by chance is no damage.
  copy.set(
    noise.map((byte) => byte | 0x80),
    contentOf(copy, table),
  );
  return copy;
}

function withSize(bytes: Buffer, sandbox: string, size: number): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.indexOf(sandbox, 0, 'latin1') - 4;
  const old = copy.readUInt32BE(at);
  copy.writeUInt32BE(size === old ? size + 1 : size, at);
  return copy;
}

function withoutClock(bytes: Buffer, sandbox: string): Buffer {
  const copy = Buffer.from(bytes);
  const at = contentOf(copy, sandbox);
  copy.writeUInt32BE(0, at + (copy[at] === 1 ? 20 : 12));
  return copy;
}
