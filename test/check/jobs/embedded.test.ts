import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { filesLeft } from '../../binary/support/fixture.ts';
import { startServe } from '../../binary/support/serve.ts';
import { longText } from '../../binary/support/sound.ts';

/** It takes the long text in one job. */
const MODEL = 'vendor-s21pro';
const LEDGER = /^(cache|state\/foley\/(service|credit-rates))/;

function foley(sandbox: Sandbox, ...args: string[]): Promise<RunResult> {
  return runFoley([...args, '--local'], { sandbox, timeoutMs: 100_000 });
}

async function seconds(sandbox: Sandbox, name: string): Promise<number> {
  return (await decodeAudio(await readFile(path.join(sandbox.out, name)))).durationMs / 1_000;
}

describe('jobs of the embedded service', () => {
  test('are created by one command and fetched by others', async () => {
    const sandbox = await createSandbox();
    const created = await foley(sandbox, 'jobs', 'create', 'One short sentence.', '-q');
    expect(created.code, created.stderr).toBe(0);
    const id = created.stdout.toString().trim();
    expect(id).toMatch(/^[\w-]{8,}$/);

    const list = await foley(sandbox, 'jobs', 'list', '--all', '--json');
    expect(JSON.parse(list.stdout.toString())).toMatchObject({
      total: 1,
      // Left behind, it was finished before the command that created it ended.
      items: [{ taskId: id, status: 'success', textPreview: 'One short sentence.' }],
    });
    const got = await foley(sandbox, 'jobs', 'get', id);
    expect(got.stdout.toString()).toMatch(/status\s+success/);

    for (const api of ['v3', 'v1']) {
      const waited = await foley(sandbox, 'jobs', 'wait', id, '-o', `${api}.mp3`, '--api', api);
      expect(waited.code, waited.stderr).toBe(0);
    }
    const [v1, v3] = await Promise.all(
      ['v1.mp3', 'v3.mp3'].map((name) => readFile(path.join(sandbox.out, name))),
    );
    expect(v1).toEqual(v3);
    expect(await seconds(sandbox, 'v3.mp3')).toBeGreaterThan(0.5);
    const segment = await foley(sandbox, 'jobs', 'download', id, '--segment', '0');
    expect(segment.stdout.toString()).toBe(`${id}-0.mp3\n`);
    expect((await filesLeft(sandbox)).filter((name) => !LEDGER.test(name))).toEqual(
      [`out/${id}-0.mp3`, 'out/v1.mp3', 'out/v3.mp3'].sort(),
    );
  });

  test('several at once are each saved into a folder', async () => {
    const sandbox = await createSandbox();
    const ids: string[] = [];
    for (const text of ['Number one.', 'Number two.']) {
      ids.push((await foley(sandbox, 'jobs', 'create', text, '-q')).stdout.toString().trim());
    }
    const result = await foley(sandbox, 'jobs', 'wait', ...ids, '-o', 'all');
    expect(result.code, result.stderr).toBe(0);
    expect((await readdir(path.join(sandbox.out, 'all'))).sort()).toEqual(
      ids.map((id) => `${id}.mp3`).sort(),
    );
    expect(result.stdout.toString()).toMatch(/^ID +STATUS +CREDITS +OUTPUT\n/);
  });

  test('the same key is the same job, and the same price', async () => {
    const sandbox = await createSandbox();
    const create = (): Promise<RunResult> =>
      foley(
        sandbox,
        'jobs',
        'create',
        'Hello.',
        '--idempotency-key',
        'mine',
        '-o',
        'a.mp3',
        '--json',
      );
    const documents = [await create(), await create()].map(({ stdout }) =>
      Object(JSON.parse(stdout.toString())),
    );
    expect(documents[1]).toMatchObject({ id: documents[0]?.id, status: 'success' });
    expect(documents[1]?.quotaRemaining).toBe(documents[0]?.quotaRemaining);
  });
});

describe('a service with a fault rule that lets jobs fail', () => {
  test.each([
    ['partial_fail', 3],
    ['fail', 20],
  ])('job=%s is exit %i', async (outcome, exitCode) => {
    const rule = `POST /api/open/v3/speech/tts/jobs; job=${outcome}`;
    const { env } = await startServe(['--fault', rule, '--credits', '1000']);
    const sandbox = await createSandbox();
    const run = (...args: string[]): Promise<RunResult> => runFoley(args, { sandbox, env });
    const voices = await run('voices', 'list', '--json');
    const [voice] = Object(JSON.parse(voices.stdout.toString())).items;
    const text = 'The first sentence is spoken. The second one is not.';
    const create = ['jobs', 'create', text, '-v', voice.voiceId, '-m', MODEL, '-o', 'a.wav'];
    const result = await run(...create, '--json');
    expect(result.code, result.stderr).toBe(exitCode);
    const document = Object(JSON.parse(result.stdout.toString()));
    expect(document).toMatchObject({ status: outcome, target: 'hosted' });
    const profile = await run('profile', '--json');
    const { credits } = Object(JSON.parse(profile.stdout.toString()));
    expect(credits).toBe(1_000 - document.creditsUsed);
    if (outcome === 'fail') {
      expect(document).toMatchObject({ creditsUsed: 0, output: null });
      expect(await filesLeft(sandbox)).toEqual(expect.not.arrayContaining(['out/a.wav']));
    } else {
      expect(document.creditsUsed).toBeLessThan(text.length);
      expect(await seconds(sandbox, 'a.wav')).toBeGreaterThan(0.5);
    }
  });
});

describe('a command that is stopped while its job runs', () => {
  test('says how to go on, and the embedded service finishes the job', async () => {
    const sandbox = await createSandbox();
    const args = ['tts', longText(2_600), '-m', MODEL, '-o', 'long.wav', '--local'];
    const running = await startFoley(args, { sandbox, timeoutMs: 100_000 });
    const [, id = ''] = await running.waitFor('stderr', /job (\S+) was accepted/);
    running.signal('SIGINT');
    const stopped = await running.done;
    expect(stopped).toMatchObject({ code: null, signal: 'SIGINT' });
    const resume = `foley jobs wait ${id} -o long.wav --local`;
    expect(stopped.stderr).toContain(resume);
    const waited = await runFoley(resume.split(' ').slice(1), { sandbox, timeoutMs: 100_000 });
    expect(waited.code, waited.stderr).toBe(0);
    expect(await seconds(sandbox, 'long.wav')).toBeGreaterThan(30);
    expect((await foley(sandbox, 'recover')).stdout.toString()).toBe('Nothing was left behind.\n');
  }, 120_000);
});

describe('a command that is killed while its job runs', () => {
  test('loses nothing: recover fetches what it had ordered', async () => {
    const sandbox = await createSandbox();
    const args = ['tts', longText(2_600), '-m', MODEL, '-o', 'long.wav', '--local'];
    const running = await startFoley(args, { sandbox });
    const [, id = ''] = await running.waitFor('stderr', /job (\S+) was accepted/);
    running.signal('SIGKILL');
    await running.done;
    expect(await filesLeft(sandbox)).toContain('state/foley/journal/ID.jsonl');

    const listed = await foley(sandbox, 'recover', '--list');
    expect(listed.stdout.toString()).toContain(`job ${id}`);
    const recovered = await foley(sandbox, 'recover', '--json');
    expect(recovered.code, recovered.stderr).toBe(0);
    expect(JSON.parse(recovered.stdout.toString())).toMatchObject({
      items: [{ outcome: 'recovered', jobId: id, output: path.join(sandbox.out, 'long.wav') }],
    });
    expect(await seconds(sandbox, 'long.wav')).toBeGreaterThan(30);
    const left = (await filesLeft(sandbox)).filter((name) => !LEDGER.test(name));
    expect(left).toEqual(['out/long.wav']);
    const list = await foley(sandbox, 'jobs', 'list', '--json', '--all');
    expect(JSON.parse(list.stdout.toString())).toMatchObject({ total: 1 });
  }, 120_000);
});
