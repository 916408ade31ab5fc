import { access } from 'node:fs/promises';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { PROFILE_PATH, SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { errorLine } from '../harness/error-line.ts';
import { inShell } from '../harness/in-shell.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { SECOND } from '../service/engine/process/engine-under-test.ts';
import { codeOf, firstVoiceId, startServe } from './support/serve.ts';
import { expectSound } from './support/sound.ts';

describe('the ready line', () => {
  test('is one line for a person, from which a shell can set its variables', async () => {
    const running = await startFoley(['serve', '--port', '0']);
    const [line, baseUrl = '', apiKey = ''] = await running.waitFor(
      'stdout',
      /^foley service ready: FOLEY_BASE_URL=(http:\/\/127\.0\.0\.1:\d+) FOLEY_API_KEY=(\S+)\n/,
    );
    const headers = { Authorization: `Bearer ${apiKey}` };
    const answer = await request(baseUrl + PROFILE_PATH, { headers });
    await answer.body.dump();
    expect(answer.statusCode).toBe(200);
    running.signal('SIGTERM');
    const { stdout, stderr } = await running.done;
    expect(stdout.toString()).toBe(line);
    expect(stderr).toMatch(
      /^foley: to inspect the service, open http:\S+#\S+ \(works in one browser\)\n$/,
    );
  });

  test('is one document with --json', async () => {
    const { running, baseUrl } = await startServe();
    expect(parseJsonDocument(running.stdout)).toMatchObject({
      baseUrl,
      realtimeUrl: baseUrl.replace('http', 'ws'),
    });
  });
});

describe('the account of other commands', () => {
  test('stays as it is with --credits, and does not refill that of the service', async () => {
    const sandbox = await createSandbox();
    const { ask } = await startServe(['--credits', '50'], { sandbox });
    const own = await runFoley(['profile', '--json', '--local'], { sandbox });
    expect(JSON.parse(String(own.stdout))).toMatchObject({ credits: 1_000_000 });
    const { bytes } = await ask(PROFILE_PATH);
    expect(JSON.parse(String(bytes))).toMatchObject({ credits: 50 });
  });

  test.each([
    ['--fault', 'GET /nothing; status=503'],
    ['--rate-limit', '100/s'],
    ['--unavailable', 'vendor-s1'],
  ])('is not that of a service with %s', async (...flags) => {
    const sandbox = await createSandbox();
    await startServe(flags, { sandbox });
    const named = await runFoley(['config', 'path', '--json'], { sandbox });
    const { serviceData } = JSON.parse(String(named.stdout));
    await expect(access(serviceData)).rejects.toThrow('ENOENT');
  });

  test('is that of a service without these flags', async () => {
    const sandbox = await createSandbox();
    await startServe([], { sandbox });
    const named = await runFoley(['config', 'path', '--json'], { sandbox });
    await expect(access(JSON.parse(String(named.stdout)).serviceData)).resolves.toBeUndefined();
  });
});

describe('it answers', () => {
  test('its key, and no other', async () => {
    const { ask } = await startServe();
    expect((await ask(PROFILE_PATH)).status).toBe(200);
    for (const Authorization of ['', 'Bearer wrong', 'Basic eDp5']) {
      const refused = await ask(PROFILE_PATH, { headers: { Authorization } });
      expect(refused.status, Authorization).toBe(401);
      expect(codeOf(refused.bytes)).toBe('ERR_UNAUTHORIZED');
    }
  });

  test('GET /healthz, the capabilities and the OpenAPI document without a key', async () => {
    const { ask } = await startServe();
    for (const path of ['/healthz', `${SPEECH_PATH}/capabilities`, '/api/open/v3/openapi.json']) {
      expect((await ask(path, { headers: { Authorization: '' } })).status, path).toBe(200);
    }
  });

  test('neither a foreign host nor a foreign origin', async () => {
    const { ask } = await startServe();
    expect((await ask('/healthz', { headers: { Host: 'evil.example' } })).status).toBe(421);
    const origin = await ask(PROFILE_PATH, { headers: { Origin: 'https://evil.example' } });
    expect(origin.status).toBe(403);
  });

  test('the hosts and origins of its flags', async () => {
    const names = ['--allow-host', 'foley.test', '--allow-host', 'other.test'];
    const { ask } = await startServe([...names, '--allow-origin', 'https://app.test']);
    for (const Host of ['foley.test', 'other.test:80']) {
      expect((await ask(PROFILE_PATH, { headers: { Host } })).status, Host).toBe(200);
    }
    const headers = { Origin: 'https://app.test' };
    expect((await ask(PROFILE_PATH, { headers })).status).toBe(200);
  });

  test('speech, for any accepted request', async () => {
    const service = await startServe();
    const body = { text: 'Hello there.', voiceId: await firstVoiceId(service), format: 'ogg' };
    const { status, headers, bytes } = await service.ask(SPEECH_PATH, { method: 'POST', body });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('audio/ogg');
    expect(headers['x-openapi-credits-used']).toMatch(/^[\d.]+$/);
    expect(await expectSound(bytes)).toMatchObject({ format: 'ogg' });
  });

  test('curl', async () => {
    requireTool('curl');
    const { env, running } = await startServe();
    const script = `curl -sS -f -H "Authorization: Bearer $FOLEY_API_KEY" "$FOLEY_BASE_URL${PROFILE_PATH}"`;
    const result = await inShell(script, { env, sandbox: running.sandbox });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout.toString())).toMatchObject({ credits: 1_000_000 });
  });

  test('foley itself, as a hosted service', async () => {
    const { env } = await startServe();
    const voices = await runFoley(['voices', 'list', '--json'], { env });
    expect(voices).toMatchObject({ code: 0, stderr: '' });
    const { voiceId } = Object(parseJsonDocument(voices.stdout)).items[0];
    const result = await runFoley(['tts', 'Hello', '-v', voiceId, '--json'], { env });
    expect(parseJsonDocument(result.stdout)).toMatchObject({ target: 'hosted' });
  });

  test('names of OpenAI with --alias, and refuses an alias of nothing', async () => {
    const sandbox = await createSandbox();
    const listed = await runFoley(['voices', 'list', '--local', '--json'], { sandbox });
    const { voiceId } = Object(parseJsonDocument(listed.stdout)).items[1];
    const model = ['--alias', 'tts-1=vendor-s21pro-flash'];
    const flags = [...model, '--alias', `alloy=${voiceId}`];
    const { ask } = await startServe(flags, { sandbox });
    const body = { model: 'tts-1', voice: 'alloy', input: 'Hello.' };
    const { bytes, headers, status } = await ask('/v1/audio/speech', { method: 'POST', body });
    expect(status).toBe(200);
    expect(headers['x-openapi-credits-used']).toBe('3');
    expect(await expectSound(bytes)).toMatchObject({ format: 'mp3' });
    const refused = await runFoley(['serve', '--alias', 'tts-1=vendor-s9'], { sandbox });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/the id vendor-s9/) });
  });

  test('GET /metrics with --metrics only', async () => {
    const measured = await startServe(['--metrics']);
    await measured.ask(PROFILE_PATH);
    const { bytes } = await measured.ask('/metrics', { headers: { Authorization: '' } });
    const sample = `foley_http_requests_total{method="GET",route="${PROFILE_PATH}",status="200"} 1`;
    expect(bytes.toString().split('\n')).toContain(sample);
    const { ask } = await startServe();
    expect((await ask('/metrics')).status).toBe(404);
  });

  test('the models of --unavailable as unavailable', async () => {
    const { env, ...service } = await startServe(['--unavailable', 'vendor-s1']);
    const voiceId = await firstVoiceId({ env, ...service });
    const args = ['tts', 'Hi', '-v', voiceId, '-m', 'vendor-s1', '--max-retries', '0', '--json'];
    expect(errorLine(await runFoley(args, { env }))).toMatchObject({ exitCode: 23, status: 503 });
  });

  test('the models of added engines too, with --unavailable', async () => {
    const sandbox = await createSandbox();
    await runFoley(['engine', 'add', 'mine', '--', 'node', SECOND], { sandbox });
    const { env } = await startServe(['--unavailable', 'local-mine'], { sandbox });
    const listed = await runFoley(['models', '--json'], { env });
    expect(Object(parseJsonDocument(listed.stdout)).models).toContainEqual(
      expect.objectContaining({ id: 'local-mine', available: false }),
    );
    const refused = await runFoley(['serve', '--unavailable', 'local-mien'], { sandbox });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/mean local-mine\?/) });
  });
});
