import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSandbox } from '../../harness/sandbox.ts';
import { drawn, underSeed } from '../../harness/seed.ts';
import { creditsOf } from '../pictures/picture-calls.ts';
import { firstVoiceId, startServe } from '../../binary/support/serve.ts';
import { damages } from './damage.ts';
import {
  DUBBING,
  fixtureFile,
  LIP_SYNC,
  post,
  serveMedia,
} from '../../binary/support/lip-sync-fixture.ts';

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
