import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { PROFILE_PATH, SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { errorLine } from '../harness/error-line.ts';
import { inShell } from '../harness/in-shell.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { snapshot } from '../harness/snapshot.ts';
import { codeOf, firstVoiceId, startServe } from '../binary/support/serve.ts';
import { expectSound, withTrueLengths } from '../binary/support/sound.ts';
import { requirePosix } from '../harness/posix.ts';

describe('a signal ends it', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s, and the caller can tell', async (signal) => {
    const { running } = await startServe();
    running.signal(signal);
    expect(await running.done).toMatchObject({ code: null, signal, stderr: '' });
  });

  test.each([
    ['TERM', 143],
    ['INT', 130],
  ])('in a shell, %s is %i', async (signal, code) => {
    const script = `
      set -m
      mkfifo ready
      foley serve --port 0 > ready &
      read -r line < ready
      kill -${signal} $!
      wait $!`;
    expect((await inShell(script)).code).toBe(code);
  });

  test('what it is saying is said to the end', async () => {
    const service = await startServe();
    const voiceId = await firstVoiceId(service);
    const text = 'This is a sentence of a middling length. '.repeat(10);
    const { body } = await request(service.baseUrl + SPEECH_PATH, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${service.apiKey}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ text, voiceId, format: 'wav' }),
    });
    service.running.signal('SIGTERM');
    const wav = Buffer.from(await body.arrayBuffer());
    const audio = await expectSound(withTrueLengths(wav));
    expect(audio.durationMs).toBeGreaterThan(15_000);
    expect(await service.running.done).toMatchObject({ signal: 'SIGTERM' });
  });
});

describe('what it keeps', () => {
  test('outlives it: a key that was used stays used', async () => {
    const sandbox = await createSandbox();
    const first = await startServe([], { sandbox });
    const body = { text: 'Once.', voiceId: await firstVoiceId(first) };
    const asked = { method: 'POST', body, headers: { 'Idempotency-Key': 'order-66' } } as const;
    expect((await first.ask(SPEECH_PATH, asked)).status).toBe(200);
    const before = (await first.ask(PROFILE_PATH)).bytes.toString();
    first.running.signal('SIGTERM');
    await first.running.done;
    const second = await startServe([], { sandbox });
    const again = await second.ask(SPEECH_PATH, asked);
    expect(again.status).toBe(409);
    expect(codeOf(again.bytes)).toBe('ERR_REQUEST_ALREADY_COMPLETED');
    expect((await second.ask(PROFILE_PATH)).bytes.toString()).toBe(before);
  });

  test('is in --data-dir, for this user only', async () => {
    const { running } = await startServe(['--data-dir', 'my data']);
    const out = await snapshot(running.sandbox.out);
    expect(out.get('my data')).toMatchObject({ kind: 'folder', mode: 0o700 });
    expect((await snapshot(running.sandbox.state)).size).toBe(0);
  });

  test('that cannot be kept is exit 32', async () => {
    requirePosix('/dev/null, /dev/zero and /dev/fd');
    const result = await runFoley(['serve', '--port', '0', '--data-dir', '/dev/null/x', '--json']);
    expect(errorLine(result)).toMatchObject({ code: 'state', exitCode: 32 });
  });
});

test.each([
  ['--base-url', 'http://127.0.0.1:1'],
  ['--realtime-url', 'ws://127.0.0.1:1'],
  ['--api-key-file', 'key.txt'],
  ['--account', 'work'],
])('%s, which names another service, is exit 2', async (flag, value) => {
  const result = await runFoley(['serve', '--port', '0', flag, value]);
  expect(result.code, result.stderr).toBe(2);
  expect(result.stderr).toContain(flag);
});

describe('where it cannot listen is exit 2', () => {
  test('a port in use, which is named', async () => {
    const { baseUrl } = await startServe();
    const { port } = new URL(baseUrl);
    const result = await runFoley(['serve', '--port', port]);
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toContain(port);
    expect(result.stderr).toMatch(/--port/);
  });

  test.each([
    [['--host', '0.0.0.0'], /--host is 0\.0\.0\.0/],
    [['--host', 'example.com'], /--host is example\.com/],
    [['--port', '65536'], /--port is "65536".*0 to 65535/],
    [['--port', '-1'], /--port is "-1"/],
    [['--port', 'http'], /--port is "http"/],
  ])('%j', async (flags, reason) => {
    const result = await runFoley(['serve', ...flags]);
    expect(result.code, result.stderr).toBe(2);
    expect(result.stdout).toHaveLength(0);
    expect(result.stderr).toMatch(reason);
  });
});
