import { describe, expect, test } from 'vitest';
import { PROFILE_PATH, SPEECH_PATH, VOICES_PATH } from '../fault-server/healthy-service.ts';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';
import { expectSoundIn } from '../binary/support/sound.ts';

async function speak(service: ServingFoley, ...flags: readonly string[]) {
  const { env } = service;
  const voiceId = await firstVoiceId(service);
  return runFoley(['tts', 'Hello there.', '-v', voiceId, '-o', 'a.mp3', '--json', ...flags], {
    env,
  });
}

async function creditsOf(service: ServingFoley): Promise<number> {
  const { bytes } = await service.ask(PROFILE_PATH);
  return Number(Object(JSON.parse(bytes.toString())).credits);
}

describe('--fault', () => {
  test('status, so many times: the client comes through, and pays once', async () => {
    const service = await startServe(['--fault', `POST ${SPEECH_PATH}; status=503; times=2`]);
    const result = await speak(service);
    expect(result.code, result.stderr).toBe(0);
    await expectSoundIn(result.sandbox, 'a.mp3');
    const { creditsUsed } = Object(parseJsonDocument(result.stdout));
    expect(await creditsOf(service)).toBe(1_000_000 - creditsUsed);
  });

  test('status: each ends as its status does, and nothing is charged', async () => {
    const ends = [
      [402, 21, 'ERR_INSUFFICIENT_CREDITS'],
      [429, 22, 'ERR_RATE_LIMITED'],
      [502, 23, 'ERR_BAD_GATEWAY'],
      [401, 4, 'ERR_UNAUTHORIZED'],
    ] as const;
    const service = await startServe(
      ends.flatMap(([status]) => ['--fault', `POST ${SPEECH_PATH}; status=${status}; times=1`]),
    );
    for (const [status, exitCode, code] of ends) {
      const result = await speak(service, '--max-retries', '0');
      expect(errorLine(result)).toMatchObject({ status, exitCode, code });
    }
    expect(await creditsOf(service)).toBe(1_000_000);
  });

  test('reset-after and truncate: what came is kept, or nothing is known; charged each time', async () => {
    const ends = [
      ['reset-after=2000', 25],
      ['truncate=2000', 25],
      ['reset-after=0', 26],
    ] as const;
    const service = await startServe(
      ends.flatMap(([effect]) => ['--fault', `POST ${SPEECH_PATH}; ${effect}; times=1`]),
    );
    let credits = 1_000_000;
    for (const [, exitCode] of ends) {
      expect(errorLine(await speak(service, '--max-retries', '0'))).toMatchObject({ exitCode });
      const left = await creditsOf(service);
      expect(left).toBeLessThan(credits);
      credits = left;
    }
  });

  test('job, repeated with another rule', async () => {
    const jobs = `${SPEECH_PATH}/jobs`;
    const rules = [`POST ${jobs}; job=fail; times=1`, 'POST /**; job=partial_fail'];
    const service = await startServe(rules.flatMap((rule) => ['--fault', rule]));
    const body = { text: 'Hello there.', voiceId: await firstVoiceId(service) };
    const create = async (): Promise<string> => {
      const { bytes } = await service.ask(jobs, { method: 'POST', body });
      return String(Object(JSON.parse(bytes.toString())).task.taskId);
    };
    const ids = [await create(), await create()];
    const status = async (id: string): Promise<string> => {
      const { bytes } = await service.ask(`${jobs}/${id}`);
      return String(Object(JSON.parse(bytes.toString())).task.status);
    };
    const ends = () => Promise.all(ids.map((id) => status(id)));
    await expect.poll(ends).toEqual(['fail', 'partial_fail']);
  });

  test.each([
    ['POST /x; stauts=503', /--fault "POST \/x; stauts=503": unknown field "stauts"/],
    ['POST /x; status=200', /status is "200"; it takes 400/],
    ['', /--fault ""/],
  ])('that is no rule is exit 2: %s', async (rule, problem) => {
    const result = await runFoley(['serve', '--port', '0', '--fault', rule]);
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toMatch(problem);
  });
});

describe('--credits', () => {
  test('is what there is to spend: beyond it is exit 21', async () => {
    const service = await startServe(['--credits', '3']);
    expect(await creditsOf(service)).toBe(3);
    expect(errorLine(await speak(service))).toMatchObject({ exitCode: 21, status: 402 });
    expect(await creditsOf(service)).toBe(3);
  });

  test.each(['-1', '1.5', 'many'])('of %s is exit 2', async (credits) => {
    const result = await runFoley(['serve', '--port', '0', `--credits=${credits}`]);
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toMatch(/--credits is ".*"; it takes a whole number/);
  });
});

describe('--rate-limit', () => {
  test('is shared by all services on the same data, and exit 22 beyond it', async () => {
    const sandbox = await createSandbox();
    const flags = ['--data-dir', 'data', '--rate-limit', '0.02/s'];
    const [first, second] = [
      await startServe(flags, { sandbox }),
      await startServe(flags, { sandbox }),
    ];
    expect((await first.ask(VOICES_PATH)).status).toBe(200);
    const refused = await second.ask(VOICES_PATH);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThan(1);
    expect(seconds).toBeLessThanOrEqual(50);
    const { env } = second;
    const result = await runFoley(['voices', 'list', '--max-retries', '0', '--json'], { env });
    expect(errorLine(result)).toMatchObject({ exitCode: 22, code: 'ERR_RATE_LIMITED' });
  });

  test.each(['10', '0/s', '-1/s', '10/m', 'fast'])('of %s is exit 2', async (rate) => {
    const result = await runFoley(['serve', '--port', '0', `--rate-limit=${rate}`]);
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toMatch(/--rate-limit is ".*"; it takes a rate such as 10\/s/);
  });
});

describe('names that are none are exit 2', () => {
  test.each([
    [
      '--unavailable',
      'vendor-s21-pro',
      /vendor-s21-pro.*it takes vendor-s21pro[^]*Did you mean vendor-s21pro\?/,
    ],
    ['--allow-host', 'http://foley.test', /--allow-host is "http:\/\/foley\.test"/],
    ['--allow-host', 'foley.test:80', /without scheme, port and path/],
    ['--allow-origin', 'app.test', /--allow-origin is "app\.test"/],
    ['--allow-origin', 'https://app.test/page', /without a path/],
  ])('%s %s', async (flag, value, problem) => {
    const result = await runFoley(['serve', '--port', '0', flag, value]);
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toMatch(problem);
  });
});
