import { describe, expect, test } from 'vitest';
import { redirectTo } from '../../fault-server/faults/redirect.ts';
import { audio } from '../../fault-server/faults/wrong-answer.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Rule } from '../../fault-server/script.ts';
import type { Step } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { errorLine } from '../../harness/error-line.ts';
import { filesLeft, outputOf, VOICE } from '../support/fixture.ts';
import {
  AUDIO_V1_PATH,
  answersInSequence,
  JOB_ID,
  jobFixture,
  JOBS_V1_PATH,
  jobV1Answer,
  requestsTo,
} from './job-fixture.ts';

const { mp3, ogg } = await tinyAudio();
const POLL_PATH = `${JOBS_V1_PATH}/${JOB_ID}`;
const V1 = ['--api', 'v1', '--poll-interval', '1ms'];

function onPollV1(...answers: readonly Step[][]): Rule {
  return { method: 'GET', path: POLL_PATH, answer: answersInSequence(...answers) };
}

function page(items: readonly object[], nextPage: number | null): Step[] {
  const pagination = { page: 1, limit: 20, hasMore: nextPage !== null, nextPage };
  const body = { items, pagination, requestId: 'r', extra: true };
  return answer(200, { 'Content-Type': 'application/json' }, JSON.stringify(body));
}

function item(taskId: string): object {
  return { taskId, status: 'success', characters: 3, strange: taskId };
}

describe('a job of v1', () => {
  test('has its request id for a key, and its audio at a store of another origin', async () => {
    const store = await startFaultServer([{ path: '/signed', answer: audio(mp3) }]);
    const fixture = await jobFixture([
      { method: 'POST', path: JOBS_V1_PATH, answer: jobV1Answer('pending', 202) },
      onPollV1(jobV1Answer('processing'), jobV1Answer('success')),
      { path: AUDIO_V1_PATH, answer: redirectTo(`${store.origin}/signed?signature=secret`) },
    ]);
    const args = ['jobs', 'create', 'hi', '-v', VOICE, '-o', 'hi.mp3', '--json', ...V1];
    const result = await fixture.run(args);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      id: JOB_ID,
      api: 'v1',
      status: 'success',
      // v1 does not report it.
      ignoredParameters: null,
      creditsUsed: 7,
    });
    const [create] = requestsTo(fixture, JOBS_V1_PATH);
    expect(create?.header('idempotency-key')).toBe(create?.header('x-request-id'));
    const [asked] = requestsTo(fixture, AUDIO_V1_PATH);
    expect(asked?.header('authorization')).toBe(`Bearer ${fixture.key}`);
    expect(store.requests).toHaveLength(1);
    expect(store.requests[0]?.header('authorization')).toBeUndefined();
    expect(store.requests[0]?.header('x-request-id')).toBeUndefined();
  });

  test('has its segments where it says that they are', async () => {
    const segments = [
      { playbackUrl: '/somewhere/0' },
      { index: 1, status: 'success', playbackUrl: '/somewhere/1?x=y' },
    ];
    const fixture = await jobFixture([
      onPollV1(jobV1Answer('success', 200, segments)),
      { path: '/somewhere/1', answer: audio(ogg) },
    ]);
    const args = ['jobs', 'download', JOB_ID, '--segment', '1', '--api', 'v1'];
    const result = await fixture.run(args);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString()).toBe(`${JOB_ID}-1.ogg\n`);
    expect(await outputOf(fixture.sandbox, `${JOB_ID}-1.ogg`)).toEqual(ogg.bytes);
    const none = await fixture.run([
      'jobs',
      'download',
      JOB_ID,
      '--segment',
      '2',
      ...V1.slice(0, 2),
    ]);
    expect(none.code).toBe(20);
    expect(none.stderr).toContain('has no audio for segment 2');
    expect(none.stderr).not.toContain('continues');
  });

  test('is resumed with --api v1', async () => {
    // Where the machine is slow the time is over before it is asked.
    const fixture = await jobFixture([{ ...onPollV1(jobV1Answer('processing')), optional: true }]);
    const args = ['jobs', 'wait', JOB_ID, '--timeout', '100ms', '--json', ...V1];
    const result = await fixture.run(args);
    expect(errorLine(result)).toMatchObject({
      exitCode: 28,
      hint: `\`foley jobs wait ${JOB_ID} --api v1\` continues.`,
    });
  });
});

describe('a list', () => {
  test('of what is newer asks v1, every page of it, each job once', async () => {
    const fixture = await jobFixture([
      {
        method: 'GET',
        path: JOBS_V1_PATH,
        answer: answersInSequence(
          page([item('a'), item('b')], 2),
          page([item('b'), item('c')], null),
        ),
      },
    ]);
    const args = ['jobs', 'list', '--all', '--created-after', '2026-05-01', '--status', 'success'];
    const result = await fixture.run([...args, '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout.toString())).toEqual({
      items: [item('a'), item('b'), item('c')],
      total: 3,
    });
    const asked = requestsTo(fixture, JOBS_V1_PATH).map(({ query }) => Object.fromEntries(query));
    const filters = { limit: '100', status: 'success', createdAfter: '2026-05-01T00:00:00.000Z' };
    expect(asked).toEqual([
      { ...filters, page: '1' },
      { ...filters, page: '2' },
    ]);
  });

  test('without anything in it says so, and one page says where the next is', async () => {
    const fixture = await jobFixture([
      {
        method: 'GET',
        path: '/api/open/v3/speech/tts/jobs',
        answer: answersInSequence(page([], null), page([item('a')], 2)),
      },
    ]);
    const listed = await fixture.run(['jobs', 'list']);
    expect(listed.stdout.toString()).toBe('');
    expect(listed.stderr).toMatch(/No jobs\./);
    const one = await fixture.run(['jobs', 'list', '--limit', '1']);
    expect(one.stdout.toString()).toMatch(/^ID .*\na +success/);
    expect(one.stderr).toContain('--page 2 is next');
  });

  test.each([
    [['--created-after', 'yesterday'], 'such as 2026-05-01'],
    [['--created-after', '2026-05-01', '--api', 'v3'], 'works with --api v1 only'],
    [['--all', '--page', '2'], '--page'],
    [['--limit', '101'], '--limit'],
  ])('with %j is exit 2', async (flags, named) => {
    const fixture = await jobFixture();
    const result = await fixture.run(['jobs', 'list', ...flags]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(named);
    expect(await filesLeft(fixture.sandbox)).toEqual([]);
  });
});
