import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { silence } from '../../fault-server/catalogue.ts';
import { audio } from '../../fault-server/faults/wrong-answer.ts';
import type { Rule } from '../../fault-server/script.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { errorLine } from '../../harness/error-line.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import {
  filesLeft,
  onSpeech,
  OPEN,
  outputOf,
  RATES,
  speechRequests,
  VOICE,
} from '../../binary/support/fixture.ts';
import {
  AUDIO_PATH,
  JOB_ID,
  JOB_PATH,
  jobAnswer,
  JOBS_PATH,
  jobFixture,
  onCreate,
  onPoll,
  requestsTo,
} from '../../binary/jobs/job-fixture.ts';

const { mp3 } = await tinyAudio();
const LONG = 'word '.repeat(501).trim();
const TTS = ['tts', '-v', VOICE];

describe('foley tts --via', () => {
  test.each([
    ['a long text into a file', [LONG, '-o', 'a.mp3'], 'job'],
    ['a long text into a file of its own name', [LONG, '--json'], 'job'],
    ['a text of 2,500 characters', ['x'.repeat(2_500), '-o', 'a.mp3'], 'sync'],
    ['a text of 2,501 characters', ['x'.repeat(2_501), '-o', 'a.mp3'], 'job'],
    ['a long text into a pipe', [LONG, '-o', '-'], 'sync'],
    ['a long text that is to stream', [LONG, '-o', 'a.mp3', '--via', 'sync'], 'sync'],
    ['a short text that is to be a job', ['hi', '-o', 'a.mp3', '--via', 'job'], 'job'],
    ['a job into a pipe', ['hi', '-o', '-', '--via', 'job'], 'job'],
  ])('%s', async (_name, args, way) => {
    const fixture = await jobFixture([onSpeech(audio(mp3), { optional: true })]);
    const result = await fixture.run([...TTS, ...args]);
    expect(result.code, result.stderr).toBe(0);
    expect(requestsTo(fixture, JOBS_PATH)).toHaveLength(way === 'job' ? 1 : 0);
    expect(speechRequests(fixture)).toHaveLength(way === 'job' ? 0 : 1);
    if (args.includes('-')) expect(result.stdout).toEqual(mp3.bytes);
  });

  test.each([
    [['--via', 'job', '--api', 'v2'], '--api v2'],
    [['--via', 'job', '--api', 'compat-tts'], '--api compat-tts'],
    [['--via', 'job', '--api', 'v1', '--cache'], '--cache'],
    [['--via', 'aligned', '--api', 'v1'], '--via aligned'],
    [['--via', 'later'], '--via'],
  ])('%j is exit 2 and sends nothing', async (flags, named) => {
    const fixture = await jobFixture();
    const result = await fixture.run([...TTS, 'hi', '-o', 'a.mp3', ...flags]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(named);
    expect(fixture.server.requests).toHaveLength(0);
  });

  test('job reports the same as sync', async () => {
    const fixture = await jobFixture();
    const result = await fixture.run([...TTS, 'hi', '--via', 'job', '-o', 'hi.mp3', '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout.toString())).toStrictEqual({
      output: 'hi.mp3',
      bytes: mp3.bytes.length,
      format: 'mp3',
      voiceId: VOICE,
      modelId: null,
      requestId: 'r-pending',
      creditsUsed: 7,
      quotaRemaining: 90,
      ignoredParameters: ['pitch'],
      parts: 1,
      target: 'hosted',
      durationMs: 575,
      unspoken: [],
    });
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toEqual(['out/hi.mp3', RATES]);
  });

  test('job of which only a part was spoken is saved, and exit 3', async () => {
    const fixture = await jobFixture([onPoll(jobAnswer('partial_fail'))]);
    const result = await fixture.run([...TTS, 'hi', '--via', 'job', '-o', 'hi.mp3']);
    expect(result.code).toBe(3);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
  });

  test('job that fails is exit 20', async () => {
    const fixture = await jobFixture([onPoll(jobAnswer('fail'))]);
    const result = await fixture.run([...TTS, 'hi', '--via', 'job', '-o', 'hi.mp3', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 20, code: 'fail', billed: 'no' });
    expect(result.stdout.toString()).toBe('');
    expect(await filesLeft(fixture.sandbox)).toEqual([]);
  });

  test('job shows what it would send', async () => {
    const fixture = await jobFixture();
    const result = await fixture.run([...TTS, 'hi', '--via', 'job', '--dry-run', '-o', 'a.wav']);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      method: 'POST',
      url: expect.stringMatching(new RegExp(`${JOBS_PATH}$`)),
      body: { text: 'hi', format: 'wav' },
    });
    expect(fixture.server.requests).toHaveLength(0);
  });

  test.each([
    ['a text', ['hi'], '`foley jobs wait job-1 -o hi.mp3`'],
    ['a text with pauses', ['One. [pause 1s] Two.', '--pauses'], '`foley recover 2'],
  ])(
    'job of %s names a service that is gone once, and SIGTERM ends it',
    async (_name, text, hint) => {
      const fixture = await jobFixture([onPoll(jobAnswer('processing'))]);
      const running = await fixture.start([...TTS, ...text, '--via', 'job', '-o', 'hi.mp3']);
      await fixture.server.received({ path: JOB_PATH }, 4);
      await fixture.server.stop();
      await running.waitFor('stderr', /; retrying\n/);
      // Retries go on while another process prints its help.
      await fixture.run(['--help']);
      running.signal('SIGTERM');
      const result = await running.done;
      expect(result).toMatchObject({ code: null, signal: 'SIGTERM' });
      expect(result.stderr.match(/^foley: .*; retrying$/gm)).toHaveLength(1);
      expect(result.stderr).toContain(hint);
    },
  );

  test('job that is stopped stays open, until recover has fetched it', async () => {
    const fixture = await jobFixture([onPoll(jobAnswer('processing'), { times: 2 })]);
    await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'the older file');
    const running = await fixture.start([...TTS, 'hi', '--via', 'job', '-o', 'hi.mp3', '-q']);
    await fixture.server.received({ path: JOB_PATH });
    running.signal('SIGTERM');
    expect(await running.done).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(await filesLeft(fixture.sandbox)).toEqual(['out/hi.mp3', OPEN].sort());
    expect((await outputOf(fixture.sandbox)).toString()).toBe('the older file');

    const recovered = await fixture.run(['recover']);
    expect(recovered.code, recovered.stderr).toBe(0);
    expect(recovered.stdout.toString()).toMatch(/recovered as .*hi-2\.mp3/);
    expect(await outputOf(fixture.sandbox, 'hi-2.mp3')).toEqual(mp3.bytes);
    expect((await fixture.run(['recover'])).stdout.toString()).toBe('Nothing was left behind.\n');
    expect(requestsTo(fixture, JOBS_PATH)).toHaveLength(1);
    expect(requestsTo(fixture, AUDIO_PATH)).toHaveLength(1);
  });
});

/** A command was killed while it waited for its job. */
async function interrupted(rules: readonly Rule[] = []): Promise<Fixture> {
  const fixture = await jobFixture([onPoll(jobAnswer('processing'), { times: 1 }), ...rules]);
  const running = await fixture.start([...TTS, 'hi', '--via', 'job', '-o', 'hi.mp3']);
  await fixture.server.received({ path: JOB_PATH });
  running.signal('SIGKILL');
  await running.done;
  return fixture;
}

describe('foley recover of a job', () => {
  test('that failed reports its refund once', async () => {
    const fixture = await interrupted([onPoll(jobAnswer('fail'))]);
    const result = await fixture.run(['recover', '--json']);
    expect(result.code, result.stderr).toBe(20);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      items: [{ outcome: 'refunded', jobId: JOB_ID, output: null }],
    });
    expect((await fixture.run(['recover'])).code).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toEqual([]);
  });

  test('of which only a part was spoken is exit 3', async () => {
    const fixture = await interrupted([onPoll(jobAnswer('partial_fail'))]);
    const result = await fixture.run(['recover']);
    expect(result.code, result.stderr).toBe(3);
    expect(result.stdout.toString()).toMatch(/only a part of it was spoken/);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
  });

  test('whose create was cut off asks again under its key, for the very same job', async () => {
    const fixture = await jobFixture([onCreate(silence(), { times: 1 })]);
    const running = await fixture.start([...TTS, 'hi', '--via', 'job', '-o', 'hi.mp3', '-q']);
    await fixture.server.paused();
    running.signal('SIGKILL');
    await running.done;
    const folder = path.join(fixture.sandbox.state, 'foley', 'journal');
    const [kept = ''] = await readdir(folder);
    if (process.platform !== 'win32') {
      expect((await stat(path.join(folder, kept))).mode & 0o777).toBe(0o600);
    }

    const result = await fixture.run(['recover', '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      items: [
        { outcome: 'recovered', jobId: JOB_ID, output: path.join(fixture.sandbox.out, 'hi.mp3') },
      ],
    });
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    const [first, again, ...more] = requestsTo(fixture, JOBS_PATH);
    expect(more).toEqual([]);
    expect(again?.body).toEqual(first?.body);
    expect(again?.header('idempotency-key')).toBe(first?.header('idempotency-key'));
    expect(await filesLeft(fixture.sandbox)).toEqual(['out/hi.mp3']);
  });

  test('whose create was cut off is not asked for with another account', async () => {
    const fixture = await jobFixture([onCreate(silence(), { times: 1 })]);
    const running = await fixture.start([...TTS, 'hi', '--via', 'job', '-o', 'hi.mp3', '-q']);
    await fixture.server.paused();
    running.signal('SIGKILL');
    await running.done;
    const result = await fixture.run(['recover'], { env: { FOLEY_API_KEY: 'another-key' } });
    expect(result.code, result.stderr).toBe(2);
    expect(result.stdout.toString()).toMatch(/sent with another API key/);
    expect(requestsTo(fixture, JOBS_PATH)).toHaveLength(1);
  });

  test('on another service leaves it, and says where it is', async () => {
    const fixture = await interrupted();
    const result = await fixture.run(['recover'], { env: { FOLEY_TARGET: 'local' } });
    expect(result.code).toBe(2);
    expect(result.stdout.toString()).toMatch(/not recovered; job job-1 is on http:\/\/127/);
    expect(await filesLeft(fixture.sandbox)).toContain(OPEN);
  });
});
