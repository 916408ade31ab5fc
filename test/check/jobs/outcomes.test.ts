import { readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { resetBeforeHeaders, resetMidBody } from '../../fault-server/faults/cut.ts';
import { errorAnswer, proxyError, unavailable } from '../../fault-server/faults/status.ts';
import { audio } from '../../fault-server/faults/wrong-answer.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Rule } from '../../fault-server/script.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { errorLine } from '../../harness/error-line.ts';
import { filesLeft, OPEN, outputOf, RATES, VOICE } from '../../binary/support/fixture.ts';
import {
  AUDIO_PATH,
  answersInSequence,
  JOB_ID,
  JOB_PATH,
  jobAnswer,
  JOBS_PATH,
  jobFixture,
  onAudio,
  onCreate,
  onPoll,
  requestsTo,
} from '../../binary/jobs/job-fixture.ts';
import type { Step } from '../../fault-server/steps.ts';

const { mp3, wav } = await tinyAudio();
const CREATE = ['jobs', 'create', 'hi', '-v', VOICE];
const SAVE = [...CREATE, '-o', 'hi.mp3'];

function other(id: string, status: string): Rule {
  return onPoll(jobAnswer(status, { taskId: id }), { path: `${JOBS_PATH}/${id}` });
}

describe('a job that ends', () => {
  test.each(['success', 'COMPLETED'])('with %s is saved and checked', async (status) => {
    const fixture = await jobFixture([
      onPoll(answersInSequence(jobAnswer('queued'), jobAnswer(status))),
    ]);
    const result = await fixture.run(SAVE);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString()).toBe(`${JOB_ID}\n`);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toEqual(['out/hi.mp3', RATES]);
    expect(requestsTo(fixture, JOBS_PATH)).toHaveLength(1);
  });

  test.each(['fail', 'cancelled'])(
    'with %s is exit 20, refunded, and forgotten',
    async (status) => {
      const error = { code: 'ERR_GENERATION_FAILED', message: 'no voice today' };
      const fixture = await jobFixture([onPoll(jobAnswer(status, { error }))]);
      const result = await fixture.run([...SAVE, '--json']);
      expect(errorLine(result)).toMatchObject({
        exitCode: 20,
        code: 'ERR_GENERATION_FAILED',
        billed: 'no',
        message: expect.stringContaining('no voice today'),
        details: { jobId: JOB_ID, status },
      });
      expect(JSON.parse(result.stdout.toString())).toMatchObject({
        id: JOB_ID,
        status,
        output: null,
        creditsUsed: 0,
      });
      expect(await filesLeft(fixture.sandbox)).toEqual([]);
      expect(requestsTo(fixture, AUDIO_PATH)).toHaveLength(0);
    },
  );

  test('with fail cost nothing, though the service still reports its price', async () => {
    const item = {
      taskId: JOB_ID,
      status: 'fail',
      creditsUsed: 7,
      createdAt: '2026-05-01T08:30:00Z',
    };
    const page = JSON.stringify({ items: [item], pagination: { page: 1, hasMore: false } });
    const fixture = await jobFixture([
      onPoll(jobAnswer('fail')),
      onPoll(answer(200, { 'Content-Type': 'application/json' }, page), { path: JOBS_PATH }),
    ]);
    const read = async (...args: string[]): Promise<string> =>
      (await fixture.run(['jobs', ...args])).stdout.toString();
    expect(await read('get', JOB_ID)).toMatch(/^credits +0 \(refunded\)$/m);
    expect(await read('wait', JOB_ID, JOB_ID)).toMatch(/^job-1 +fail +0$/m);
    expect(await read('list')).toMatch(/^job-1 +fail +\S+ +0$/m);
  });

  test('with partial_fail is saved and exit 3', async () => {
    const segments = [
      { index: 0, status: 'success' },
      { index: 1, status: 'fail' },
    ];
    const fixture = await jobFixture([onPoll(jobAnswer('partial_fail', { segments }))]);
    const result = await fixture.run([...SAVE, '--json']);
    expect(result.code, result.stderr).toBe(3);
    expect(result.stderr).toContain(`job ${JOB_ID} is only partly spoken (segment 1 failed)`);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      status: 'partial_fail',
      output: 'hi.mp3',
    });
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
  });

  test('is printed as one document, with every field of the response', async () => {
    const fixture = await jobFixture();
    const result = await fixture.run([...SAVE, '--json', '--request-id', 'mine']);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout.toString())).toStrictEqual({
      id: JOB_ID,
      kind: 'tts',
      api: 'v3',
      status: 'success',
      output: 'hi.mp3',
      requestId: 'r-pending',
      creditsUsed: 7,
      quotaRemaining: 90,
      ignoredParameters: ['pitch'],
      target: 'hosted',
      raw: expect.objectContaining({ somethingNew: { from: 'a later service' } }),
      unspoken: [],
    });
    expect(result.stderr).toContain(`job ${JOB_ID} was accepted`);
  });
});

describe('a create', () => {
  test('prints the id and waits for nothing', async () => {
    const fixture = await jobFixture();
    const result = await fixture.run([...CREATE, '--speed', '1.5']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString()).toBe(`${JOB_ID}\n`);
    const [request] = requestsTo(fixture, JOBS_PATH);
    expect(JSON.parse(request?.body.toString() ?? '')).toEqual({
      text: 'hi',
      voiceId: VOICE,
      format: 'mp3',
      speed: 1.5,
    });
    expect(request?.header('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/);
    expect(requestsTo(fixture, JOB_PATH)).toHaveLength(0);
    expect(await filesLeft(fixture.sandbox)).toEqual([RATES]);
  });

  test('has printed the id before the job ends', async () => {
    const fixture = await jobFixture([onPoll(jobAnswer('processing'))]);
    const running = await fixture.start([...CREATE, '--wait']);
    await running.waitFor('stdout', /^job-1\n/);
    await fixture.server.received({ path: JOB_PATH });
    running.signal('SIGINT');
    expect(await running.done).toMatchObject({ code: null, signal: 'SIGINT' });
  });

  test('is sent again under the same key until it is answered', async () => {
    const fixture = await jobFixture([onCreate(resetBeforeHeaders(), { times: 1 })]);
    const result = await fixture.run(SAVE);
    expect(result.code, result.stderr).toBe(0);
    const keys = requestsTo(fixture, JOBS_PATH).map((one) => one.header('idempotency-key'));
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test('without an answer is exit 26, and names the key', async () => {
    const fixture = await jobFixture([onCreate(resetBeforeHeaders())]);
    const result = await fixture.run([...SAVE, '--max-retries', '0', '--json']);
    expect(errorLine(result)).toMatchObject({
      exitCode: 26,
      billed: 'unknown',
      hint: expect.stringMatching(/--idempotency-key [0-9a-f-]{36}/),
    });
    expect(await filesLeft(fixture.sandbox)).toEqual([OPEN]);
  });

  test('whose answer names no job may have been billed', async () => {
    const nothing = answer(202, { 'Content-Type': 'application/json' }, '{"task":{}}');
    const fixture = await jobFixture([onCreate(nothing)]);
    const line = errorLine(await fixture.run([...SAVE, '--json']));
    expect(line).toMatchObject({ exitCode: 25, billed: 'unknown' });
  });

  test('whose body is of no use is known by its place', async () => {
    const placed = answer(202, { Location: JOB_PATH, 'Content-Type': 'text/plain' }, 'accepted');
    const fixture = await jobFixture([onCreate(placed)]);
    const result = await fixture.run(SAVE);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString()).toBe(`${JOB_ID}\n`);
  });

  test('that is refused is not left open', async () => {
    const fixture = await jobFixture([onCreate(errorAnswer(402, { code: 'ERR_CREDITS' }))]);
    expect(errorLine(await fixture.run([...SAVE, '--json']))).toMatchObject({ exitCode: 21 });
    expect(await filesLeft(fixture.sandbox)).toEqual([]);
  });

  test.each([
    [['--timeout', '1s'], '--timeout'],
    [['--poll-interval', '1s'], '--poll-interval'],
    [['--no-clobber'], '--no-clobber'],
    [['--api', 'v2'], '--api'],
    [['-o', '-', '--json'], '--json'],
    [['-o', 'x.wma'], 'wma'],
  ])('with %j alone is exit 2 and sends nothing', async (flags, named) => {
    const fixture = await jobFixture();
    const result = await fixture.run([...CREATE, ...flags]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(named);
    expect(fixture.server.requests).toHaveLength(0);
  });

  test('above the limit of one job is exit 2, and sends nothing', async () => {
    const fixture = await jobFixture();
    const result = await fixture.run([...CREATE, 'x'.repeat(10_000)]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('one job accepts at most 10000');
    expect(fixture.server.requests).toHaveLength(0);
  });

  test('is shown and not sent with --dry-run, however long', async () => {
    const fixture = await jobFixture();
    const text = 'word '.repeat(1_999).trim();
    const args = ['jobs', 'create', text, '-v', VOICE, '--api', 'v1', '--dry-run'];
    const result = await fixture.run(args);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      method: 'POST',
      url: expect.stringMatching(/\/api\/open\/v1\/speech\/tts\/jobs$/),
      body: { text },
    });
    expect(fixture.server.requests).toHaveLength(0);
  });

  test('into a folder that is not there sends nothing', async () => {
    const fixture = await jobFixture();
    const result = await fixture.run([...CREATE, '-o', 'nowhere/hi.mp3']);
    expect(result.code).toBe(30);
    expect(fixture.server.requests).toHaveLength(0);
  });
});

describe('a wait', () => {
  test('lives through everything that goes by', async () => {
    const troubles = [
      errorAnswer(500),
      unavailable(),
      errorAnswer(429),
      proxyError(502),
      resetBeforeHeaders(),
      answer(200, { 'Content-Type': 'text/html' }, '<form>'),
    ];
    const fixture = await jobFixture([
      onPoll(
        answersInSequence(
          jobAnswer('queued'),
          ...troubles.flatMap((trouble) => [trouble, jobAnswer('processing')]),
          jobAnswer('success'),
        ),
      ),
    ]);
    const result = await fixture.run(['jobs', 'wait', JOB_ID, '--poll-interval', '1ms']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString()).toBe('success\n');
    expect(result.stderr.match(/; retrying$/gm)).toHaveLength(1);
    expect(requestsTo(fixture, JOB_PATH)).toHaveLength(2 * troubles.length + 2);
  });

  test('for several jobs reports once that it retries', async () => {
    const polls = answersInSequence(
      jobAnswer('queued'),
      resetBeforeHeaders(),
      jobAnswer('success'),
    );
    const fixture = await jobFixture([onPoll(polls), other('job-2', 'success')]);
    const wait = ['jobs', 'wait', JOB_ID, 'job-2', '--poll-interval', '1ms'];
    const result = await fixture.run(wait);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr.match(/; retrying$/gm)).toHaveLength(1);
  });

  test.each([
    [401, 4],
    [403, 4],
    [404, 20],
  ])('ends with %i as exit %i', async (status, exitCode) => {
    const fixture = await jobFixture([
      onPoll(answersInSequence(jobAnswer('processing'), errorAnswer(status))),
    ]);
    const result = await fixture.run(['jobs', 'wait', JOB_ID, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode, status });
  });

  test('of an unknown job prints nothing on stdout', async () => {
    const fixture = await jobFixture([onPoll(noJob())]);
    const result = await fixture.run(['jobs', 'wait', JOB_ID, '-o', 'hi.mp3', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 20, code: 'ERR_JOB_NOT_FOUND' });
    expect(result.stdout.toString()).toBe('');
    expect(await filesLeft(fixture.sandbox)).toEqual([]);
  });

  test('has the time that it is given, be that more than a timer can count', async () => {
    const fixture = await jobFixture([
      onPoll(jobAnswer('processing'), { times: 1 }),
      onPoll(jobAnswer('success')),
    ]);
    const result = await fixture.run(['jobs', 'wait', JOB_ID, '--timeout', '1000h']);
    expect(result).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Warning') });
  });

  test('that lasts too long is exit 28, and says how to go on', async () => {
    const fixture = await jobFixture([onPoll(jobAnswer('processing'))]);
    const args = ['jobs', 'wait', JOB_ID, '-o', "it's.mp3", '--timeout', '0', '--json'];
    const result = await fixture.run(args);
    expect(errorLine(result)).toMatchObject({
      exitCode: 28,
      code: 'deadline',
      billed: 'yes',
      message: expect.stringContaining(JOB_ID),
      hint: `\`foley jobs wait ${JOB_ID} -o 'it'\\''s.mp3'\` continues.`,
      details: { jobId: JOB_ID, status: 'processing' },
    });
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      id: JOB_ID,
      status: 'processing',
      output: null,
    });
    expect(await filesLeft(fixture.sandbox)).toEqual([]);
  });

  test('with a deadline of zero polls once, and a later deadline continues', async () => {
    const fixture = await jobFixture([onPoll(jobAnswer('processing'))]);
    const wait = ['jobs', 'wait', JOB_ID, '--poll-interval', '1ms', '--timeout'];
    expect((await fixture.run([...wait, '0'])).code).toBe(28);
    expect(requestsTo(fixture, JOB_PATH)).toHaveLength(1);
    const later = await fixture.run([...wait, '1s']);
    expect(later.code).toBe(28);
    expect(later.stderr).toContain(`foley jobs wait ${JOB_ID}`);
    expect(requestsTo(fixture, JOB_PATH).length).toBeGreaterThan(2);
  });

  test('of several saves each, and the worst decides', async () => {
    const fixture = await jobFixture([
      other('a', 'success'),
      other('b', 'partial_fail'),
      other('c', 'processing'),
      other('d', 'fail'),
      onAudio(audio(mp3), { path: `${JOBS_PATH}/a/audio` }),
      onAudio(audio(mp3), { path: `${JOBS_PATH}/b/audio` }),
    ]);
    const wait = (...ids: string[]) =>
      fixture.run(['jobs', 'wait', ...ids, '-o', 'all', '--timeout', '0', '--json']);
    const failed = await wait('a', 'b', 'c', 'd', 'a');
    expect(failed.code, failed.stderr).toBe(20);
    expect(JSON.parse(failed.stdout.toString())).toMatchObject({
      items: [
        { id: 'a', status: 'success', output: 'all/a.mp3' },
        { id: 'b', status: 'partial_fail', output: 'all/b.mp3' },
        { id: 'c', status: 'processing', output: null, error: { exitCode: 28 } },
        { id: 'd', status: 'fail', output: null, error: { exitCode: 20 } },
      ],
    });
    expect((await readdir(`${fixture.sandbox.out}/all`)).sort()).toEqual(['a.mp3', 'b.mp3']);
    const late = await wait('b', 'c');
    expect(late.code, late.stderr).toBe(28);
    expect(errorLine(late).hint).toBe('`foley jobs wait c -o all` continues.');
    const again = await wait('b', 'a');
    expect(again.code, again.stderr).toBe(3);
    expect(JSON.parse(again.stdout.toString())).toMatchObject({
      items: [{ output: 'all/b.mp3' }, { output: 'all/a.mp3' }],
    });
    expect((await readdir(`${fixture.sandbox.out}/all`)).sort()).toEqual(['a.mp3', 'b.mp3']);
    await writeFile(`${fixture.sandbox.out}/all/a.mp3`, 'mine');
    await wait('b', 'a');
    await wait('b', 'a');
    expect((await readdir(`${fixture.sandbox.out}/all`)).sort()).toEqual([
      'a-2.mp3',
      'a.mp3',
      'b.mp3',
    ]);
    expect(await readFile(`${fixture.sandbox.out}/all/a.mp3`, 'utf8')).toBe('mine');
  });

  test('with - for several is exit 2', async () => {
    const fixture = await jobFixture();
    const result = await fixture.run(['jobs', 'wait', 'a', 'b', '-o', '-']);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('require a folder');
  });

  test('that is stopped says how to go on, and loses nothing', async () => {
    const fixture = await jobFixture([onPoll(jobAnswer('processing'))]);
    const running = await fixture.start(SAVE);
    await fixture.server.received({ path: JOB_PATH });
    running.signal('SIGINT');
    const stopped = await running.done;
    expect(stopped).toMatchObject({ code: null, signal: 'SIGINT' });
    expect(stopped.stderr).toContain(`\`foley jobs wait ${JOB_ID} -o hi.mp3\` continues with job`);
    expect(await filesLeft(fixture.sandbox)).toEqual([OPEN]);
  });
});

describe('audio of a job', () => {
  test('that is cut and not tried again publishes nothing, and is there to be fetched', async () => {
    const fixture = await jobFixture([onAudio(resetMidBody(mp3), { times: 1 })]);
    const cut = await fixture.run([...SAVE, '--max-retries', '0', '--json']);
    expect(errorLine(cut)).toMatchObject({
      exitCode: 25,
      billed: 'yes',
      hint: expect.stringContaining(`\`foley jobs wait ${JOB_ID} -o hi.mp3\` continues.`),
    });
    expect(await filesLeft(fixture.sandbox)).toEqual([RATES, OPEN]);
    const again = await fixture.run(['jobs', 'wait', JOB_ID, '-o', 'hi.mp3']);
    expect(again.code, again.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    // What the first command had left open is over with it.
    expect(await filesLeft(fixture.sandbox)).toEqual(['out/hi.mp3', RATES]);
    expect(requestsTo(fixture, JOBS_PATH)).toHaveLength(1);
  });

  test('that is gone is lost, with its cost', async () => {
    const fixture = await jobFixture([onAudio(errorAnswer(404, { code: 'ERR_AUDIO_NOT_FOUND' }))]);
    const line = errorLine(await fixture.run([...SAVE, '--json']));
    expect(line).toMatchObject({
      exitCode: 27,
      billed: 'yes',
      message: expect.stringContaining('cost 7 credits'),
    });
    expect(await filesLeft(fixture.sandbox)).toEqual([RATES]);
  });

  test('of another format than its name says is not saved under it', async () => {
    const fixture = await jobFixture([onAudio(audio(mp3))]);
    const result = await fixture.run(['jobs', 'download', JOB_ID, '-o', 'hi.wav']);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/extension of wav, but job job-1 is mp3/);
    expect(await filesLeft(fixture.sandbox)).toEqual([]);
  });

  test('that is none is exit 25', async () => {
    const fixture = await jobFixture([onAudio(audio({ ...wav, type: 'audio/mpeg' }))]);
    const result = await fixture.run([...SAVE, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 25, billed: 'yes' });
    expect(await filesLeft(fixture.sandbox)).toEqual([RATES, OPEN]);
  });

  test('goes to stdout whole, with the id on stderr', async () => {
    const fixture = await jobFixture();
    const result = await fixture.run([...CREATE, '-o', '-']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout).toEqual(mp3.bytes);
    expect(result.stderr).toContain(`job ${JOB_ID} was accepted`);
  });

  test('that a store calls bytes is known by them, and named after the job', async () => {
    const opaque = { ...wav, type: 'application/octet-stream' };
    const fixture = await jobFixture([onAudio(audio(opaque))]);
    const result = await fixture.run(['jobs', 'download', JOB_ID]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString()).toBe(`${JOB_ID}.wav\n`);
    expect(await outputOf(fixture.sandbox, `${JOB_ID}.wav`)).toEqual(wav.bytes);
    const again = await fixture.run(['jobs', 'download', JOB_ID]);
    expect(again.stdout.toString()).toBe(`${JOB_ID}.wav\n`);
    expect(await readdir(fixture.sandbox.out)).toEqual([`${JOB_ID}.wav`]);
  });

  test('continues under a name with the extension of its format', async () => {
    const fixture = await jobFixture([]);
    const result = await fixture.run(['jobs', 'wait', JOB_ID, '-o', 'hi.wav', '--json']);
    expect(errorLine(result)).toMatchObject({
      exitCode: 2,
      hint:
        'Use the extension .mp3, and convert the file afterwards. ' +
        `\`foley jobs wait ${JOB_ID} -o hi.wav\` continues under such a name.`,
    });
  });

  test('is not there while the job runs', async () => {
    const missing = errorAnswer(404, { code: 'ERR_AUDIO_NOT_FOUND' });
    const fixture = await jobFixture([onPoll(jobAnswer('processing')), onAudio(missing)]);
    const result = await fixture.run(['jobs', 'download', JOB_ID, '--json']);
    expect(errorLine(result)).toMatchObject({
      exitCode: 20,
      hint: expect.stringContaining(`foley jobs wait ${JOB_ID}`),
    });
  });
});

/** 404 of a job. */
function noJob(): Step[] {
  return errorAnswer(404, { code: 'ERR_JOB_NOT_FOUND', message: 'There is no such job.' });
}
