import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { closeDelimitedShort, resetMidBody } from '../../fault-server/faults/cut.ts';
import { redirectTo } from '../../fault-server/faults/redirect.ts';
import { audio } from '../../fault-server/faults/wrong-answer.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Answer } from '../../fault-server/script.ts';
import type { Step } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { errorLine } from '../../harness/error-line.ts';
import { outputOf, createFixture, VOICE } from '../../binary/support/fixture.ts';
import * as media from '../../binary/media-client/media-fixture.ts';
import {
  AUDIO_PATH,
  answersInSequence,
  JOB_ID,
  jobAnswer,
  jobFixture,
  JOBS_PATH,
  JOBS_V1_PATH,
  jobV1Answer,
  onAudio,
  onCreate,
  requestsTo,
} from '../../binary/jobs/job-fixture.ts';

const { mp3 } = await tinyAudio();
const CREATE = ['jobs', 'create', 'hi', '-v', VOICE];
const SAVE = [...CREATE, '-o', 'hi.mp3', '--max-retries', '2'];
const EXPIRED = answer(403, { 'Content-Type': 'application/xml' }, '<Code>AccessDenied</Code>');

/** A store whose links are good or not, one after the other, and a service that sends there. */
async function stored(...answers: readonly Step[][]) {
  const store = await startFaultServer([
    { path: /^\/link-/, answer: answersInSequence(...answers) },
  ]);
  let links = 0;
  const fixture = await jobFixture([
    onAudio(() => redirectTo(`${store.origin}/link-${(links += 1)}?signature=secret`)),
  ]);
  return { ...fixture, store };
}

describe('a link to a store that has expired', () => {
  test('is asked for anew, and is never taken for a rejected key', async () => {
    const fixture = await stored(EXPIRED, EXPIRED, audio(mp3));
    const result = await fixture.run(SAVE);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    expect(fixture.store.requests.map(({ path }) => path)).toEqual([
      '/link-1',
      '/link-2',
      '/link-3',
    ]);
    expect(
      fixture.store.requests.every((request) => request.header('authorization') === undefined),
    );
  });

  test('again and again is 25, and the job can be fetched', async () => {
    const fixture = await stored(EXPIRED);
    const error = errorLine(await fixture.run([...SAVE, '--json']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes', status: 403 });
    expect(error.message).toMatch(
      /the file storage at 127\.0\.0\.1:\d+ refused the download \(403\)/,
    );
    expect(error.hint).toMatch(/foley jobs wait/);
    expect(fixture.store.requests).toHaveLength(3);
  });

  test('of a picture is taken from the job again', async () => {
    const made = media.madeBy('image');
    const store = await startFaultServer([
      { path: '/old', answer: EXPIRED },
      { path: '/new', answer: audio(made) },
    ]);
    let polls = 0;
    const done: Answer = () => {
      polls += 1;
      const url = `${store.origin}/${polls === 1 ? 'old' : 'new'}`;
      return media.job('image', 'completed', { result_url: url });
    };
    const fixture = await createFixture([
      { method: 'GET', path: `${media.PATHS.image}/${media.JOB_ID}`, answer: done },
    ]);
    const result = await fixture.run(['image', 'download', media.JOB_ID, '-o', 'a.png']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, 'a.png')).toEqual(made.bytes);
  });

  test.each([401, 403] as const)(
    'on the origin of the service itself is asked for anew too (%d)',
    async (status) => {
      let links = 0;
      const fixture = await jobFixture([
        {
          path: /^\/link-[12]$/,
          answer: answer(status, { 'Content-Type': 'text/plain' }, 'expired'),
        },
        { path: '/link-3', answer: audio(mp3) },
        onAudio(() => redirectTo(`/link-${(links += 1)}?signature=secret`)),
      ]);
      const result = await fixture.run(SAVE);
      expect(result.code, result.stderr).toBe(0);
      expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    },
  );

  test('on the origin of the service itself, again and again, is 25 and never 4', async () => {
    const fixture = await jobFixture([
      { path: '/link', answer: EXPIRED },
      onAudio(redirectTo('/link?signature=secret')),
    ]);
    const error = errorLine(await fixture.run([...SAVE, '--json']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes', status: 403 });
    expect(requestsTo(fixture, AUDIO_PATH)).toHaveLength(3);
    const batch = await fixture.run(['batch', '--lines', '-', '-v', VOICE, '--max-retries', '0'], {
      input: 'One.\nTwo.\n',
    });
    expect(batch.code, batch.stderr).toBe(25);
    expect(requestsTo(fixture, JOBS_PATH)).toHaveLength(3);
  });

  test('in the result of a picture on the origin of the service is taken from the job again', async () => {
    const made = media.madeBy('image');
    let polls = 0;
    const done: Answer = () => {
      polls += 1;
      return media.job('image', 'completed', { result_url: polls === 1 ? '/old' : '/new' });
    };
    const fixture = await createFixture([
      { path: '/old', answer: EXPIRED },
      { path: '/new', answer: audio(made) },
      { method: 'GET', path: `${media.PATHS.image}/${media.JOB_ID}`, answer: done },
    ]);
    const result = await fixture.run(['image', 'download', media.JOB_ID, '-o', 'a.png']);
    expect(result.code, result.stderr).toBe(0);
  });

  test('of a segment is taken from the job again', async () => {
    let polls = 0;
    const done: Answer = () => {
      polls += 1;
      // The first one is the command's own look at the job.
      const audioUrl = polls <= 2 ? '/old' : '/new';
      return jobV1Answer('completed', 200, [{ index: 0, audioUrl }]);
    };
    const fixture = await jobFixture([
      { path: '/old', answer: EXPIRED },
      { path: '/new', answer: audio(mp3) },
      { method: 'GET', path: `${JOBS_V1_PATH}/${JOB_ID}`, answer: done },
    ]);
    const segment = ['--api', 'v1', '--segment', '0', '-o', 'hi.mp3'];
    const result = await fixture.run(['jobs', 'download', JOB_ID, ...segment]);
    expect(result.code, result.stderr).toBe(0);
  });

  test('is not what a service says that refuses the key at the address of the audio', async () => {
    const fixture = await jobFixture([onAudio(EXPIRED)]);
    const error = errorLine(await fixture.run([...SAVE, '--json']));
    expect(error).toMatchObject({ exitCode: 4, status: 403 });
  });

  test('does not stop a batch', async () => {
    const fixture = await stored(EXPIRED);
    const result = await fixture.run(['batch', '--lines', '-', '-v', VOICE, '--max-retries', '0'], {
      input: 'One.\n',
    });
    expect(result.code, result.stderr).toBe(25);
  });
});

describe('a download that is cut', () => {
  test('resumes with the missing range', async () => {
    const half = Math.floor(mp3.bytes.length / 2);
    const rest: Answer = (request) => {
      expect(request.header('range')).toBe(`bytes=${half}-`);
      expect(request.header('if-range')).toBe('"a"');
      const range = `bytes ${half}-${mp3.bytes.length - 1}/${mp3.bytes.length}`;
      const headers = { 'Content-Type': mp3.type, 'Content-Range': range, ETag: '"a"' };
      return answer(206, headers, mp3.bytes.subarray(half));
    };
    let turn = 0;
    const etag = { ...mp3, headers: { ETag: '"a"' } };
    const fixture = await jobFixture([
      onAudio((request) => ((turn += 1) === 1 ? resetMidBody(etag) : rest(request))),
    ]);
    const result = await fixture.run(SAVE);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    expect(requestsTo(fixture, AUDIO_PATH)).toHaveLength(2);
  });

  test('begins anew where the service knows no ranges', async () => {
    const fixture = await jobFixture([onAudio(answersInSequence(resetMidBody(mp3), audio(mp3)))]);
    const result = await fixture.run(SAVE);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
  });

  test.each([
    ['jobs create -o', SAVE],
    ['jobs create -o -', [...CREATE, '-o', '-']],
    ['jobs wait', ['jobs', 'wait', JOB_ID, '-o', 'hi.mp3', '--poll-interval', '1ms']],
    ['jobs download', ['jobs', 'download', JOB_ID, '-o', 'hi.mp3']],
    ['tts --via job', ['tts', 'hi', '-v', VOICE, '--via', 'job', '-o', 'hi.mp3']],
    ['batch', ['batch', 'hi.txt', '-v', VOICE, '--output-dir', '.']],
  ])('without a trace is completed by %s', async (_how, command) => {
    const fixture = await jobFixture([
      onAudio(answersInSequence(closeDelimitedShort(mp3), audio(mp3))),
    ]);
    await writeFile(join(fixture.sandbox.out, 'hi.txt'), 'hi');
    const result = await fixture.run(command);
    expect(result.code, result.stderr).toBe(0);
    const isStream = command.includes('-');
    expect(isStream ? result.stdout : await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    expect(requestsTo(fixture, AUDIO_PATH)).toHaveLength(2);
  });

  test('without a trace again and again is 25, after as many retries as --max-retries allows', async () => {
    const fixture = await jobFixture([onAudio(closeDelimitedShort(mp3))]);
    const error = errorLine(await fixture.run([...SAVE, '--json']));
    expect(error).toMatchObject({ exitCode: 25, billed: 'yes' });
    expect(error.message).toMatch(/the audio (?:is|may be) cut/);
    expect(requestsTo(fixture, AUDIO_PATH)).toHaveLength(3);
  });

  test('and then is another file is 25, and publishes nothing', async () => {
    const other = { ...mp3, bytes: Buffer.from(mp3.bytes).fill(0x55, 100, 120) };
    const fixture = await jobFixture([onAudio(answersInSequence(resetMidBody(mp3), audio(other)))]);
    const error = errorLine(await fixture.run([...SAVE, '--json']));
    expect(error).toMatchObject({ exitCode: 25, billed: 'yes' });
    expect(error.message).toMatch(/changed/);
  });
});

test('audio that --reuse copies names the request that created its job, not the last poll', async () => {
  const created = jobAnswer('pending', { code: 202, taskId: JOB_ID });
  const fixture = await jobFixture([onCreate(created)]);
  const command = ['jobs', 'create', 'hi', '-v', VOICE, '--reuse', '--json', '-o'];
  const bought = await fixture.run([...command, 'a.mp3']);
  expect(bought.code, bought.stderr).toBe(0);
  const reused = await fixture.run([...command, 'b.mp3']);
  expect(JSON.parse(reused.stdout.toString())).toMatchObject({
    reused: true,
    requestId: 'r-pending',
  });
});

describe('wait prints the credits of a job, and download does not', () => {
  test('for speech', async () => {
    const fixture = await jobFixture();
    const wait = ['jobs', 'wait', JOB_ID, '-o', 'a.mp3', '--poll-interval', '1ms'];
    const waited = await fixture.run(wait);
    expect(waited.stderr).toMatch(/a\.mp3: mp3, .*7 credits used/);
    const downloaded = await fixture.run(['jobs', 'download', JOB_ID, '-o', 'b.mp3']);
    expect(downloaded.stderr).toMatch(/b\.mp3: mp3, /);
    expect(downloaded.stderr).not.toContain('credits used');
  });

  test('for a picture', async () => {
    const fixture = await createFixture(media.healthy('image'));
    const wait = ['image', 'wait', media.JOB_ID, '-o', 'a.png', '--poll-interval', '1ms'];
    const waited = await fixture.run(wait);
    expect(waited.stderr).toMatch(/a\.png: png.*7 credits used/);
    const downloaded = await fixture.run(['image', 'download', media.JOB_ID, '-o', 'b.png']);
    expect(downloaded.stderr).toMatch(/b\.png: png/);
    expect(downloaded.stderr).not.toContain('credits used');
  });
});
