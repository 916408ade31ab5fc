import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROFILE_PATH, SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { canaryKey } from '../harness/canary.ts';
import { requirePosix } from '../harness/posix.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { parseJsonLines } from '../harness/json-lines.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import { codeOf, firstVoiceId, startServe } from '../binary/support/serve.ts';

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

/** `foley serve --verbose` for a person, and how to ask it. */
async function startVerbose(...flags: readonly string[]) {
  const running = await startFoley(['serve', '--port', '0', '--verbose', ...flags]);
  const [, baseUrl = '', apiKey = ''] = await running.waitFor(
    'stdout',
    /FOLEY_BASE_URL=(\S+) FOLEY_API_KEY=(\S+)\n/,
  );
  const ask = (path: string, headers: Readonly<Record<string, string>>, body?: string) =>
    fetch(baseUrl + path, {
      headers: { Authorization: `Bearer ${apiKey}`, ...headers },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
  return { running, ask, apiKey, env: { FOLEY_BASE_URL: baseUrl, FOLEY_API_KEY: apiKey } };
}

function withLowerCaseEscapes(text: string): string {
  return text.replaceAll(/%../g, (code) => code.toLowerCase());
}

describe('--verbose', () => {
  test('prints a line for each request', async () => {
    const fault = `GET ${PROFILE_PATH}; delay=1ms; every=2`;
    const { running, ask } = await startVerbose('--fault', fault);
    await ask(`${PROFILE_PATH}?page=secret`, { 'X-Request-Id': 'one' });
    await ask(PROFILE_PATH, { 'X-Request-Id': 'two' });
    await ask('/healthz', { 'X-Request-Id': 'three' });
    await ask(PROFILE_PATH, { 'X-Request-Id': 'four', Authorization: '' });
    await running.waitFor('stderr', /four.*\n/);
    const [, ...lines] = running.stderr.trimEnd().split('\n');
    const profile = `GET ${PROFILE_PATH}`;
    for (const [index, form] of [
      `${profile} 200 \\d+ ms one local 0 credits`,
      String.raw`${profile} 200 \d+ ms two local 0 credits \[delay=1ms\]`,
      String.raw`GET /healthz 200 \d+ ms three - 0 credits`,
      String.raw`${profile} 401 \d+ ms four - 0 credits`,
    ].entries()) {
      expect(lines[index]).toMatch(new RegExp(`^${TIME} ${form}$`));
    }
    expect(lines).toHaveLength(4);
    expect(running.stderr).not.toContain('secret');
  });

  test('prints the cost of speech, and never its text', async () => {
    const { running, ask, env } = await startVerbose();
    const voices = await runFoley(['voices', 'list', '--json'], { env });
    const { voiceId } = Object(JSON.parse(voices.stdout.toString())).items[0];
    await runFoley(['tts', 'Classified words', '-v', voiceId, '-o', 'a.mp3'], { env });
    const [line] = await running.waitFor('stderr', /.*POST .*\n/);
    expect(line).toMatch(new RegExp(`POST ${SPEECH_PATH} 200 \\d+ ms \\S+ local 8 credits\\n$`));
    const body = JSON.stringify({ text: 'Classified', voiceId });
    await ask(`${SPEECH_PATH}/jobs`, { 'Content-Type': 'application/json' }, body);
    await running.waitFor('stderr', /\/jobs 202 \d+ ms \S+ local 5 credits\n/);
    expect(running.stderr).not.toContain('Classified');
  });

  test('shows no key, wherever it was put, and nothing raw', async () => {
    const { running, ask, apiKey } = await startVerbose();
    await ask(`/${apiKey}?token=${apiKey}`, { 'X-Request-Id': `id-${apiKey}` });
    await ask('/%1b[31m%0a', { 'X-Request-Id': '::error::' });
    await running.waitFor('stderr', /error.*\n/);
    expect(running.stderr).not.toContain(apiKey);
    expect(running.stderr).toContain('GET /[redacted] 404');
    expect(running.stderr).toContain('/%1b[31m%0a 404');
    const [, ...requests] = running.stderr.trimEnd().split('\n');
    expect(requests).toHaveLength(2);
  });

  test('with --json begins and ends with a line for the service, in JSON throughout', async () => {
    const service = await startServe(['--verbose']);
    await firstVoiceId(service);
    service.running.signal('SIGTERM');
    const lines = parseJsonLines((await service.running.done).stderr);
    const time = expect.stringMatching(new RegExp(`^${TIME}$`));
    expect(lines).toEqual([
      { time, event: 'started', baseUrl: service.baseUrl },
      expect.objectContaining({ time, event: 'request', method: 'GET' }),
      { time, event: 'stopping' },
      { time, event: 'stopped' },
    ]);
  });

  test('with --json prints warnings in JSON', async () => {
    requirePosix('files that only their owner can read');
    const sandbox = await createSandbox();
    await writeFile(join(sandbox.out, 'keys.txt'), `${canaryKey()}\n`, { mode: 0o644 });
    const service = await startServe(['--accept-keys-file', 'keys.txt'], { sandbox });
    service.running.signal('SIGTERM');
    expect(parseJsonLines((await service.running.done).stderr)).toEqual([
      {
        time: expect.stringMatching(new RegExp(`^${TIME}$`)),
        event: 'warning',
        message: expect.stringMatching(/^keys\.txt contains API keys and is readable by others/),
      },
    ]);
  });

  test('shows no key with signs that paths and JSON escape, in lines that can be parsed', async () => {
    const key = `a"b|c<d>e+f/${canaryKey()}`;
    const sandbox = await createSandbox();
    await writeFile(join(sandbox.out, 'keys.txt'), `${key} sales\n`, { mode: 0o600 });
    const flags = ['--verbose', '--accept-keys-file', 'keys.txt'];
    const service = await startServe(flags, { sandbox });
    const paths = [key, encodeURIComponent(key)];
    for (const given of [...paths, ...paths.map(withLowerCaseEscapes)]) {
      const { pathname } = new URL(`http://h/${given}`);
      await service.ask(pathname, { headers: { 'X-Request-Id': key } });
    }
    const ids = [`Bearer%20${key}"x`, 'https://u:p@h/a"b', '\\', '"', '%', 'id'];
    for (const id of ids) await service.ask('/%', { headers: { 'X-Request-Id': id } });
    service.running.signal('SIGTERM');
    const { stderr } = await service.running.done;
    const lines = parseJsonLines(stderr);
    const requests = lines.filter((line) => Object(line).event === 'request');
    expect(requests).toHaveLength(10);
    for (const line of requests) {
      const { path: shown, requestId } = Object(line);
      const readable = shown === '/%' ? shown : decodeURIComponent(shown);
      for (const text of [readable, requestId]) {
        expect(text).not.toContain(key);
        expect(text).not.toContain(key.slice(-20));
      }
    }
    expect(requests.map((line) => Object(line).requestId).slice(-4)).toEqual(ids.slice(-4));
  });

  test('with --json prints each as a JSON line on stderr', async () => {
    const { running, ...service } = await startServe([
      '--verbose',
      '--fault',
      'POST /x; status=503',
    ]);
    await firstVoiceId({ running, ...service });
    const headers = { 'X-Request-Id': 'r-1' };
    const refused = await service.ask('/x', { method: 'POST', body: {}, headers });
    expect(codeOf(refused.bytes)).toBe('ERR_SERVICE_UNAVAILABLE');
    running.signal('SIGTERM');
    const [, , second] = parseJsonLines((await running.done).stderr);
    expect(second).toStrictEqual({
      time: expect.stringMatching(new RegExp(`^${TIME}$`)),
      event: 'request',
      method: 'POST',
      path: '/x',
      status: 503,
      ms: expect.any(Number),
      requestId: 'r-1',
      account: null,
      credits: 0,
      faults: ['status=503'],
    });
  });
});

test('without it prints no requests', async () => {
  const service = await startServe();
  await firstVoiceId(service);
  service.running.signal('SIGTERM');
  expect(await service.running.done).toMatchObject({ stderr: '' });
});
