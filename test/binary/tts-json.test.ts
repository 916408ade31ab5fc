import { stat } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { audio, errorAnswer, rateLimited, shortBody } from '../fault-server/catalogue.ts';
import { refusedOrigin } from '../fault-server/fault-server.ts';
import { SPEECH_PATH, VOICES } from '../fault-server/healthy-service.ts';
import type { Step } from '../fault-server/steps.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { speechRequestOf, startHostedService, VOICE } from './support/hosted-service.ts';

const { mp3 } = await tinyAudio();

const speechAnswers = async (answer: readonly Step[]) =>
  startHostedService([{ method: 'POST', path: SPEECH_PATH, answer }]);

describe('--json prints one document', () => {
  test('of the hosted service, with exactly these fields in this order', async () => {
    const { server, env } = await startHostedService();
    const args = ['tts', 'Hi 👋', '-o', 'hi.mp3', '-m', 'vendor-s21pro', '--json'];
    const result = await runFoley(args, { env });
    expect(result).toMatchObject({ code: 0 });
    const document = parseJsonDocument(result.stdout);
    expect(document).toStrictEqual({
      output: 'hi.mp3',
      bytes: (await stat(path.join(result.sandbox.out, 'hi.mp3'))).size,
      format: 'mp3',
      voiceId: VOICE.voiceId,
      modelId: 'vendor-s21pro',
      requestId: speechRequestOf(server).header('x-request-id'),
      creditsUsed: 4,
      quotaRemaining: 990_000,
      ignoredParameters: [],
      parts: 1,
      target: 'hosted',
      durationMs: expect.any(Number),
      unspoken: [],
    });
    expect(Object.keys(Object(document)).join()).toBe(
      'output,bytes,format,voiceId,modelId,requestId,creditsUsed,quotaRemaining,' +
        'ignoredParameters,parts,target,durationMs,unspoken',
    );
  });

  test('of the embedded service', async () => {
    const result = await runFoley(['tts', 'Hello', '-o', 'hi.wav', '--json', '--local']);
    expect(parseJsonDocument(result.stdout)).toStrictEqual({
      output: 'hi.wav',
      bytes: (await stat(path.join(result.sandbox.out, 'hi.wav'))).size,
      format: 'wav',
      voiceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      modelId: null,
      requestId: expect.stringMatching(/\S/),
      creditsUsed: expect.any(Number),
      quotaRemaining: expect.any(Number),
      ignoredParameters: [],
      parts: 1,
      target: 'embedded',
      durationMs: expect.any(Number),
      unspoken: [],
    });
  });

  test('in which null is what the service did not report', async () => {
    const { env } = await speechAnswers(audio(mp3));
    const result = await runFoley(['tts', 'Hi', '--json'], { env });
    const document = parseJsonDocument(result.stdout);
    expect(document).toMatchObject({ creditsUsed: null, quotaRemaining: null, modelId: null });
  });

  test('on one line in a pipe', async () => {
    const { env } = await startHostedService();
    const result = await runFoley(['tts', 'Hi', '--json'], { env });
    expect(result.stdout.toString().split('\n')).toHaveLength(2);
  });
});

describe('parameters that the model ignores are reported', () => {
  const headers = { 'X-OpenAPI-Ignored-Parameters': 'volume,pitch' };

  test('on stderr', async () => {
    const { env } = await speechAnswers(audio({ ...mp3, headers }));
    const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3', '--volume', '3'], { env });
    expect(result).toMatchObject({ code: 0 });
    expect(result.stderr).toMatch(/not applied by this model: volume, pitch/);
  });

  test('in the document', async () => {
    const { env } = await speechAnswers(audio({ ...mp3, headers }));
    const result = await runFoley(['tts', 'Hi', '--volume', '3', '--json'], { env });
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      ignoredParameters: ['volume', 'pitch'],
    });
  });

  test('by the embedded service too', async () => {
    const args = ['tts', 'Hi', '--voice-name', 'Rose', '--volume', '3', '--speed', '1.1'];
    const result = await runFoley([...args, '--json', '--local']);
    expect(result.code, result.stderr).toBe(0);
    expect(parseJsonDocument(result.stdout)).toMatchObject({ ignoredParameters: ['volume'] });
    expect(result.stderr).toMatch(/volume/);
  });
});

test('the output, its credits and the rest of the quota are printed on stderr', async () => {
  const { env } = await startHostedService();
  const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3'], { env });
  expect(result.stdout).toHaveLength(0);
  expect(result.stderr).toMatch(
    /^hi\.mp3: mp3, 0\.\d s, 22\.05 kHz, mono; 2 credits used; API quota left: 990000 units\n$/,
  );
});

describe('a failure is reported with its exit code, and exactly with --json', () => {
  test.each<readonly [string, readonly Step[], number, object]>([
    [
      'a key that is rejected',
      errorAnswer(401, { code: 'ERR_UNAUTHORIZED', requestId: 'r-1' }),
      4,
      { code: 'ERR_UNAUTHORIZED', status: 401, requestId: 'r-1', billed: 'no' },
    ],
    ['a key that may not', errorAnswer(403), 4, { status: 403, billed: 'no' }],
    [
      'a request that is refused',
      errorAnswer(400, { code: 'ERR_INVALID_REQUEST', details: { field: 'text' } }),
      20,
      { code: 'ERR_INVALID_REQUEST', status: 400, details: { field: 'text' }, billed: 'no' },
    ],
    ['no credits', errorAnswer(402), 21, { status: 402, billed: 'no' }],
    ['too many requests', rateLimited('3'), 22, { status: 429, retryAfter: 3, billed: 'no' }],
    ['a service that fails', errorAnswer(500), 23, { status: 500 }],
    ['a body that is cut', shortBody(mp3), 25, { code: 'bad_answer' }],
  ])('%s', async (_, answer, exitCode, line) => {
    const { env } = await speechAnswers(answer);
    const args = ['tts', 'Hi', '-o', 'hi.mp3', '--max-retries', '0'];
    const result = await runFoley([...args, '--json'], { env });
    expect(result.stdout).toHaveLength(0);
    expect(errorLine(result)).toMatchObject({ exitCode, ...line });
  });

  test('a port without a server', async () => {
    const env = { FOLEY_BASE_URL: await refusedOrigin(), FOLEY_API_KEY: 'some-key' };
    const args = ['tts', 'Hi', '-v', VOICE.voiceId, '--max-retries', '0', '--json'];
    const line = { code: 'network', exitCode: 24, status: null, billed: 'no' };
    expect(errorLine(await runFoley(args, { env }))).toMatchObject(line);
  });

  test('without --json: what happened, the code and the request, what to do', async () => {
    const answer = errorAnswer(402, { code: 'ERR_CREDITS', message: 'No more.', requestId: 'r-2' });
    const { env } = await speechAnswers(answer);
    const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3'], { env });
    expect(result.code).toBe(21);
    expect(result.stderr).toMatch(/^foley: .*No more\..*\(ERR_CREDITS, request r-2\)\n\S.*\n$/);
  });
});

describe('--quiet', () => {
  test('silences every notice', async () => {
    const { env } = await speechAnswers(
      audio({ ...mp3, headers: { 'X-OpenAPI-Ignored-Parameters': 'volume' } }),
    );
    const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3', '--volume', '1', '-q'], { env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  test('does not silence errors', async () => {
    const result = await runFoley(['tts', '', '--quiet']);
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toMatch(/^foley: /);
  });
});

describe('--verbose', () => {
  test('prints a line for each request, with secrets masked', async () => {
    const { server, env } = await startHostedService();
    const args = ['tts', 'Hi', '--voice-name', VOICES[1].name, '-o', 'hi.mp3', '--verbose'];
    const result = await runFoley(args, { env });
    expect(result.code, result.stderr).toBe(0);
    const lines = result.stderr.split('\n').filter((line) => line.includes(server.origin));
    expect(lines).toEqual([
      expect.stringMatching(/^foley: GET \S+\/voices\?\S* 200 \d+ ms \S+$/),
      expect.stringMatching(/^foley: POST \S+\/speech\/tts 200 \d+ ms \S+$/),
    ]);
  });
});
