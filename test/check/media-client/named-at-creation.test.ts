import { describe, expect, test } from 'vitest';
import type { MediaJobKind } from '../../../src/api/resources/models.ts';
import { createFixture } from '../../binary/support/fixture.ts';
import { json } from '../../binary/voices/voice-fixture.ts';
import {
  CREATES,
  JOB_ID,
  onCreate,
  onPoll,
  onResult,
  RESULT_PATH,
  result,
} from '../../binary/media-client/media-fixture.ts';

const DONE = { data: { status: 'completed', result_url: RESULT_PATH } };

function saving(kind: MediaJobKind): readonly string[] {
  return [...CREATES[kind], '-o', kind === 'image' ? 'a.png' : 'a.mp4'];
}

describe('a create response that has only the id of the job', () => {
  test.each<[MediaJobKind, string, unknown]>([
    ['dub', 'in `data`', { data: { id: JOB_ID } }],
    ['lipsync', 'in `data`', { data: { id: JOB_ID } }],
    ['image', 'as `task_id`', { task_id: JOB_ID }],
    ['video', 'as `taskId` in `task`', { task: { taskId: JOB_ID } }],
  ])('%s create waits for the job, whose id is %s', async (kind, _where, created) => {
    const fixture = await createFixture([
      onCreate(kind, json(created, {}, 202)),
      onPoll(kind, json(DONE)),
      onResult(result(kind)),
    ]);
    const { code, stderr, stdout } = await fixture.run(saving(kind));
    expect(code, stderr).toBe(0);
    expect(stdout.toString()).toBe(`${JOB_ID}\n`);
  });

  test('prints an id that is a number', async () => {
    const fixture = await createFixture([onCreate('dub', json({ data: { id: 4711 } }, {}, 202))]);
    const { code, stderr, stdout } = await fixture.run(CREATES.dub);
    expect([code, stdout.toString()], stderr).toEqual([0, '4711\n']);
  });

  test('can have the id in the Location header alone', async () => {
    const location = { Location: `/api/open/v1/media/video-dubbing/jobs/${JOB_ID}` };
    const fixture = await createFixture([onCreate('dub', json({}, location, 202))]);
    const { code, stderr, stdout } = await fixture.run(CREATES.dub);
    expect([code, stdout.toString()], stderr).toEqual([0, `${JOB_ID}\n`]);
  });

  test('is recovered after the command was killed', async () => {
    const fixture = await createFixture([
      onCreate('dub', json({ data: { id: JOB_ID } }, {}, 202)),
      onPoll('dub', json({ data: { status: 'processing' } }), { times: 1 }),
      onPoll('dub', json(DONE)),
      onResult(result('dub')),
    ]);
    const running = await fixture.start(saving('dub'));
    await running.waitFor('stdout', /^job-1\n/);
    await fixture.server.received({ method: 'GET' });
    running.signal('SIGKILL');
    await running.done;
    const { code, stderr, stdout } = await fixture.run(['recover']);
    expect(code, stderr).toBe(0);
    expect(stdout.toString()).toMatch(/recovered as .*a\.mp4/);
  });
});

describe('what a create response reports', () => {
  const billed = {
    id: JOB_ID,
    status: 'pending',
    credits_used: 9,
    billing_duration_seconds: 3,
    video_duration_seconds: 3.4,
    audio_duration_seconds: 2.6,
    billing_rule: 'shorter_input_rounded_up',
    notices: ['The picture is not changed.'],
  };

  test('is reported when the job has ended, although no poll repeats it', async () => {
    const created = { success: true, message: 'm', data: billed, quotaRemaining: 90 };
    const fixture = await createFixture([
      onCreate('lipsync', json(created, {}, 202)),
      onPoll('lipsync', json(DONE)),
      onResult(result('lipsync')),
    ]);
    const { code, stderr, stdout } = await fixture.run([...saving('lipsync'), '--json']);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout.toString())).toMatchObject({ creditsUsed: 9, quotaRemaining: 90 });
    expect(stderr).toContain('9 credits used; API quota left: 90 units');
    expect(stderr).toContain('foley: The picture is not changed.');
  });

  test('is not the cost of a job that failed', async () => {
    const fixture = await createFixture([
      onCreate('lipsync', json({ data: billed }, {}, 202)),
      onPoll('lipsync', json({ data: { status: 'failed' } })),
    ]);
    const { code, stdout } = await fixture.run([...CREATES.lipsync, '--wait', '--json']);
    expect(code).toBe(20);
    expect(JSON.parse(stdout.toString())).toMatchObject({ status: 'failed', creditsUsed: 0 });
  });
});

test.each([
  ['an object', { tts: 3, lip_sync: 4, total: 7 }, ' (tts 3, lip sync 4)'],
  ['a number', 7, ''],
])('`credits_used` beside `data` is read as %s', async (_name, credits_used, parts) => {
  const fixture = await createFixture([
    onCreate('dub', json({ data: { id: JOB_ID } }, {}, 202)),
    onPoll('dub', json({ ...DONE, credits_used })),
    onResult(result('dub')),
  ]);
  const { code, stderr } = await fixture.run(saving('dub'));
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`7 credits used${parts}`);
});

test('a list of lip-sync jobs whose items have only an id is shown', async () => {
  const path = '/api/open/v1/media/lip-sync/jobs';
  const fixture = await createFixture([
    { method: 'GET', path, answer: json({ data: [{ id: JOB_ID }] }) },
  ]);
  const { code, stderr, stdout } = await fixture.run(['lipsync', 'list']);
  expect(code, stderr).toBe(0);
  expect(stdout.toString()).toContain(JOB_ID);
});
