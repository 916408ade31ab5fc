import { expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { errorLine } from '../../harness/error-line.ts';
import { createFixture } from '../../binary/support/fixture.ts';
import { json } from '../../binary/voices/voice-fixture.ts';
import {
  CREATES,
  healthy,
  job,
  JOB_ID,
  onCreate,
  onPoll,
  onResult,
} from '../../binary/media-client/media-fixture.ts';
import { answer } from '../../fault-server/http-text.ts';

const MODELS_PATH = '/api/open/v1/media/models';
const MODELS = {
  models: [
    {
      id: 'model-1',
      available: true,
      variants: [
        {
          aspect_ratio: '1:1',
          resolution: '1k',
          width: 1024,
          height: 1024,
          credits: 20,
          reference_limit: 4,
        },
        {
          aspect_ratio: '16:9',
          resolution: '4k',
          width: 4096,
          height: 2304,
          credits: 80,
          reference_limit: 0,
        },
      ],
    },
    { id: 'model-2', available: false, variants: [] },
  ],
  requestId: 'r-models',
};
const onModels = { method: 'GET', path: MODELS_PATH, answer: json(MODELS) };

test('the models are a table with quotes and limits, and the answer as it is', async () => {
  const fixture = await createFixture([onModels]);
  const table = (await fixture.run(['image', 'models'])).stdout.toString();
  const lines = table.split('\n').map((line) => line.split(/ {2,}/));
  expect(lines).toEqual([
    ['MODEL', 'ASPECT RATIO', 'RESOLUTION', 'SIZE', 'CREDITS', 'REFERENCES', 'NOTE'],
    ['model-1', '1:1', '1k', '1024x1024', '20', '4'],
    ['model-1', '16:9', '4k', '4096x2304', '80', '0'],
    ['model-2', 'not available'],
    [''],
  ]);
  expect(fixture.server.requests[0]?.target).toContain('mediaType=image');
  const result = await fixture.run(['image', 'models', '--json']);
  expect(JSON.parse(result.stdout.toString())).toEqual(MODELS);
});

test.each<[string, readonly string[], string]>([
  [
    '20',
    ['-m', 'model-1', '--resolution', '4k'],
    'this command may cost 80 credits, but --max-credits is 20',
  ],
  ['19', ['-m', 'model-1'], 'this command may cost 20 credits, but --max-credits is 19'],
  ['99', ['-m', 'model-1', '--aspect-ratio', '2:3'], 'lists no price'],
  ['99', ['-m', 'model-2'], 'lists no price'],
])('--max-credits %s %j is refused before anything is ordered', async (most, flags, message) => {
  const fixture = await createFixture([onModels]);
  const args = ['image', 'create', 'A lighthouse', ...flags, '--max-credits', most, '--json'];
  const error = errorLine(await fixture.run(args));
  expect(error).toMatchObject({ exitCode: 2, billed: 'no' });
  expect(error.message).toContain(message);
  expect(fixture.server.requests).toHaveLength(1);
});

test('what costs no more than that is ordered', async () => {
  const fixture = await createFixture([onModels, ...healthy('image')]);
  const result = await fixture.run([...CREATES.image, '--max-credits', '20']);
  expect([result.code, result.stdout.toString()]).toEqual([0, `${JOB_ID}\n`]);
});

test('an image of another format than its name is refused, and the printed command resumes', async () => {
  const { default: sharp } = await import('sharp');
  const create = { width: 4, height: 4, channels: 3, background: 'red' } as const;
  const jpeg = await sharp({ create }).jpeg().toBuffer();
  const fixture = await createFixture([
    onPoll('image', job('image', 'completed')),
    onResult(answer(200, { 'Content-Type': 'application/octet-stream' }, jpeg)),
  ]);
  const error = errorLine(
    await fixture.run(['image', 'download', JOB_ID, '-o', 'b.webp', '--json']),
  );
  expect(error).toMatchObject({ exitCode: 2, billed: 'yes' });
  const [, next = ''] = /`foley (.*)`/.exec(error.hint ?? '') ?? [];
  expect(next).toBe(`image wait ${JOB_ID} -o b.jpg`);
  const went = await fixture.run(next.split(' '));
  expect([went.code, went.stdout.toString()]).toEqual([0, 'b.jpg\n']);
  expect((await fixture.run(['image', 'download', JOB_ID])).stdout.toString()).toBe(
    `${JOB_ID}.jpg\n`,
  );
});

test('a job that runs has nothing to be downloaded, and says how to wait', async () => {
  const fixture = await createFixture([onPoll('video', job('video', 'processing'))]);
  const error = errorLine(await fixture.run(['video', 'download', JOB_ID, '--json']));
  expect(error).toMatchObject({ exitCode: 20 });
  expect(error.hint).toContain(`foley video wait ${JOB_ID}`);
});

test('a job that is not there is exit 20', async () => {
  const fixture = await createFixture([onPoll('dub', faults.errorAnswer(404))]);
  for (const verb of ['get', 'wait', 'download']) {
    expect(errorLine(await fixture.run(['dub', verb, JOB_ID, '--json']))).toMatchObject({
      exitCode: 20,
      status: 404,
    });
  }
});

test.each([
  [413, 'rejected', false, 'Give another video file: the same request fails again.'],
  [422, 'rejected', false, 'Give another video file: the same request fails again.'],
  [503, 'service', true, 'Try again later.'],
  [504, 'service', false, 'Give another video file: the same request fails again.'],
] as const)('a failed import (%d) names the file, the stage and what to do', async (...row) => {
  const [status, exit, retryable, hint] = row;
  const failed = onCreate('lipsync', faults.mediaImportFailed(status, retryable));
  const fixture = await createFixture([failed]);
  const args = [...CREATES.lipsync, '--max-retries', '0'];
  const { code, stderr } = await fixture.run(args);
  expect(code, stderr).toBe(exit === 'service' ? 23 : 20);
  expect(stderr).toContain(`could not import the video file, at the stage "download" (${status})`);
  expect(stderr).toContain(`Nothing was billed. ${hint}`);
  expect(errorLine(await fixture.run([...args, '--json']))).toMatchObject({ billed: 'no' });
  expect((await fixture.run(['recover'])).stdout.toString()).toBe('Nothing was left behind.\n');
});
