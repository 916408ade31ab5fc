import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { PROFILE_PATH, SPEECH_PATH, VOICES_PATH } from '../fault-server/healthy-service.ts';
import { canaryKey } from '../harness/canary.ts';
import { installPythonTools } from '../harness/python-tools.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { MISBEHAVING } from '../service/engine/process/engine-under-test.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';

const PYTHON_FILES = fileURLToPath(new URL('python', import.meta.url));
const MINUTE = 60_000;
const JOBS_PATH = `${SPEECH_PATH}/jobs`;

/** A metric as `read_metrics.py` prints it. */
interface Family {
  readonly type: string;
  readonly samples: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

async function metricsOf({ ask }: ServingFoley): Promise<string> {
  const { bytes, headers, status } = await ask('/metrics', { headers: { Authorization: '' } });
  expect([status, headers['content-type']]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return bytes.toString();
}

/** The value of the sample with these labels, or 0. */
function valueOf(metrics: string, sample: string): number {
  const line = metrics.split('\n').find((one) => one.startsWith(`${sample} `));
  return Number(line?.slice(sample.length) ?? 0);
}

async function creditsOf({ ask }: ServingFoley): Promise<number> {
  return Object(JSON.parse(String((await ask(PROFILE_PATH)).bytes))).credits;
}

/** A service that has answered requests of several kinds, and its credits used. */
async function usedService() {
  const service = await startServe(['--metrics', '--fault', 'POST /v1/tts; status=503']);
  const before = await creditsOf(service);
  const voiceId = await firstVoiceId(service);
  const body = { text: 'Hello there. How are you?', voiceId };
  for (const [url, status] of [
    [SPEECH_PATH, 200],
    [`${SPEECH_PATH}/aligned`, 200],
    [JOBS_PATH, 202],
    ['/v1/tts', 503],
    ['/nowhere/"\\', 404],
  ] as const) {
    expect((await service.ask(url, { method: 'POST', body })).status, url).toBe(status);
  }
  const live = ['live', 'Hello from the other end.', '-v', voiceId, '-o', 'live.wav'];
  expect(await runFoley(live, { env: service.env })).toMatchObject({ code: 0 });
  const unfinished = async () => {
    const metrics = await metricsOf(service);
    return ['waiting', 'running'].map((state) => valueOf(metrics, `foley_jobs{state="${state}"}`));
  };
  await expect.poll(unfinished, { timeout: MINUTE }).toEqual([0, 0]);
  return { service, used: before - (await creditsOf(service)) };
}

describe('--metrics', () => {
  test('prints what promtool accepts without a remark', async () => {
    const promtool = requireTool('promtool');
    const { service } = await usedService();
    const input = await metricsOf(service);
    const { all, exitCode } = await execa(promtool, ['check', 'metrics'], {
      all: true,
      input,
      reject: false,
    });
    expect({ all, exitCode }).toEqual({ all: '', exitCode: 0 });
    // promtool finds what is wrong.
    const wrong = input.replace(/^# HELP foley_jobs.*\n/m, '');
    const found = await execa(promtool, ['check', 'metrics'], { input: wrong, reject: false });
    expect(found).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('no help text') });
  });

  test(
    'prints what prometheus_client reads, and all credits of speech, jobs and realtime',
    async () => {
      const { service, used } = await usedService();
      const bin = await installPythonTools(path.join(PYTHON_FILES, 'metrics.txt'));
      const python = path.join(bin, 'python');
      const script = path.join(PYTHON_FILES, 'read_metrics.py');
      const { stdout } = await execa(python, [script], { input: await metricsOf(service) });
      const families: Readonly<Record<string, Family>> = Object(JSON.parse(stdout));
      const types = Object.entries(families).map(([name, { type }]) => [name, type]);
      expect(types).toEqual([
        ['foley_http_requests', 'counter'],
        ['foley_http_first_byte_seconds', 'histogram'],
        ['foley_jobs', 'gauge'],
        ['foley_speech_requests_waiting', 'gauge'],
        ['foley_credits_used', 'counter'],
        ['foley_engine_restarts', 'counter'],
      ]);
      const spent = families['foley_credits_used']?.samples ?? [];
      expect(spent.map(({ labels }) => String(labels['route'])).toSorted()).toEqual([
        SPEECH_PATH,
        `${SPEECH_PATH}/aligned`,
        JOBS_PATH,
        '/v3/tts/live',
      ]);
      expect(used).toBeGreaterThan(0);
      expect(spent.reduce((sum, { value }) => sum + value, 0)).toBe(used);
    },
    5 * MINUTE,
  );

  test('shows how many jobs wait and run', async () => {
    const service = await startServe(['--metrics']);
    const voiceId = await firstVoiceId(service);
    const text = 'This is a sentence of a middling length. '.repeat(200);
    for (let count = 0; count < 6; count += 1) {
      await service.ask(JOBS_PATH, { method: 'POST', body: { text, voiceId } });
    }
    const metrics = await metricsOf(service);
    expect(valueOf(metrics, 'foley_jobs{state="running"}')).toBe(2);
    expect(valueOf(metrics, 'foley_jobs{state="waiting"}')).toBe(4);
  });

  test('counts the restarts of an engine that dies, and logs them', async () => {
    const sandbox = await createSandbox();
    const started = path.join(sandbox.temporary, 'started');
    const engine = ['node', MISBEHAVING, 'dies at once', started];
    await runFoley(['engine', 'add', 'bad', '--', ...engine], { sandbox });
    const service = await startServe(['--metrics', '--verbose'], { sandbox });
    const { bytes } = await service.ask(VOICES_PATH);
    const { items } = Object(JSON.parse(bytes.toString()));
    const { voiceId } = items.find(({ name }: { name: string }) => name === 'v');
    const counts = [];
    for (let request = 0; request < 3; request += 1) {
      const body = { text: 'This fails.', voiceId };
      expect((await service.ask(SPEECH_PATH, { method: 'POST', body })).status).toBe(500);
      const metrics = await metricsOf(service);
      counts.push(valueOf(metrics, 'foley_engine_restarts_total{engine="bad"}'));
    }
    expect(counts).toEqual([0, 1, 2]);
    const [line] = await service.running.waitFor('stderr', /.*engine-restarted.*\n/);
    expect(JSON.parse(line)).toEqual({
      time: expect.stringMatching(/Z$/),
      event: 'engine-restarted',
      engine: 'bad',
    });
  });

  test('needs a key of the keys file through a proxy, and names no account or key', async () => {
    const [key, account] = [canaryKey(), 'alice-of-sales'];
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'keys.txt'), `${key} ${account}\n`);
    const flags = ['--metrics', '--accept-keys-file', 'keys.txt'];
    const service = await startServe(flags, { sandbox });
    const forwarded = { 'X-Forwarded-For': '192.0.2.7' };
    for (const [Authorization, status] of [
      ['', 401],
      ['Bearer other', 401],
      [`Bearer ${key}`, 200],
    ] as const) {
      const headers = { ...forwarded, Authorization };
      expect((await service.ask('/metrics', { headers })).status).toBe(status);
    }
    const metrics = await metricsOf(service);
    expect(metrics).not.toContain(key);
    expect(metrics).not.toContain(account);
  });
});
