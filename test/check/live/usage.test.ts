import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import { live, scripted, WHO } from '../../binary/live/spoken.ts';

const DISCARD = { FOLEY_BASE_URL: 'http://127.0.0.1:9', FOLEY_API_KEY: 'a-key' };

test.each<[string, readonly string[]]>([
  ['pitch is v2 only', ['Hi.', '--pitch', '2']],
  ['emotion is v2 only', ['Hi.', '--emotion', 'happy']],
  ['instruction is v2 only', ['Hi.', '--instruction', 'softly']],
  ['optimized instructions are v2 only', ['Hi.', '--optimize-instructions']],
  ['emoji are filtered elsewhere', ['Hi.', '--filter-emoji']],
  ['no such format', ['Hi.', '--format', 'aac']],
  ['a name for another format', ['Hi.', '-o', 'a.aac']],
  ['a name that contradicts', ['Hi.', '--format', 'mp3', '-o', 'a.wav']],
  ['a language that is too long', ['Hi.', '--language', 'x'.repeat(33)]],
  ['chunks that are too short', ['Hi.', '--chunk-length', '49']],
  ['an id that is too long', ['Hi.', '--request-id', 'x'.repeat(129)]],
  ['nothing says what failed', ['Hi.', '--mode', 'reliable', '--retry-failed']],
  ['simple does not retry', ['Hi.', '--request-id', 'r', '--retry-failed']],
  ['simple has no segments', ['Hi.', '--segment-by', 'line']],
  ['simple has no pauses', ['Hi.', '--flush-after', '1s']],
  ['simple is short', ['--mode', 'simple', 'x'.repeat(10_001)]],
  ['audio and events on one stdout', ['Hi.', '--json', '-o', '-']],
  ['text twice', ['Hi.', '-f', 'text.txt']],
])('%s: exit 2', async (_name, args) => {
  const result = await runFoley(['live', '--json', ...WHO, ...args], { env: DISCARD });
  expect(errorLine(result)).toMatchObject({ exitCode: 2, billed: 'no' });
});

test('the additional parameters of v2 are sent with its field names and profile', async () => {
  const server = await startScriptedServer();
  const controls = ['--pitch', '-2', '--emotion', 'calm', '--instruction', 'softly'];
  const more = ['--optimize-instructions', '--chunk-length', '80', '--latency', 'low'];
  const both = ['--speed', '1.5', '--no-text-normalization', '-l', 'en'];
  const args = ['--protocol', 'v2', 'Hi.', '-o', 'a.mp3', ...controls, ...more, ...both];
  expect((await live(server, args)).code).toBe(0);
  const start = await server.connections[0]?.receivedMessage('start');
  expect(start?.['request']).toEqual({
    parameterProfile: 'product_v1',
    voiceId: 'voice-1',
    modelId: 'vendor-s21pro-flash',
    format: 'mp3',
    speed: 1.5,
    language: 'en',
    pitch: -2,
    emotion: 'calm',
    instructions: 'softly',
    optimizeInstructions: true,
    textNormalization: false,
    chunkLength: 80,
    latency: 'low',
  });
});

const modelOf = async (modelIds: readonly string[] | undefined, env = {}) => {
  const answer = { status: 200, json: { voiceId: 'voice-1', name: 'One', modelIds } };
  const http = modelIds === undefined ? {} : { 'GET /api/open/v3/voices/voice-1': answer };
  const server = await startScriptedServer({ http });
  const args = ['live', '-v', 'voice-1', 'Hi.', '-o', 'a.mp3'];
  expect((await runFoley(args, { env: scripted(server, env) })).code).toBe(0);
  const start = await server.connections[0]?.receivedMessage('start');
  return Object(start?.['request']).modelId;
};

test('the model is that of a setting, else the default of the voice’s family, else the usual one', async () => {
  expect(await modelOf(['altF-multilingual-v2'])).toBe('altF-flash-v2.5');
  expect(await modelOf(undefined)).toBe('vendor-s21pro-flash');
  expect(await modelOf(['altF-multilingual-v2'], { FOLEY_MODEL: 'mine' })).toBe('mine');
});

test('--no-clobber keeps an existing file, and sends nothing', async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a.mp3'), 'mine');
  const args = ['live', '--json', ...WHO, 'Hi.', '-o', 'a.mp3', '--no-clobber'];
  const result = await runFoley(args, { sandbox, env: DISCARD });
  expect(errorLine(result)).toMatchObject({ exitCode: 31, billed: 'no' });
});

test('the key is in the handshake only, and --verbose logs the handshake', async () => {
  const server = await startScriptedServer();
  const result = await live(server, ['Hi.', '-o', 'a.mp3', '--verbose']);
  const { headers, url } = server.handshakes[0] ?? { headers: {}, url: '' };
  expect(headers.authorization).toBe(`Bearer ${server.key}`);
  expect(headers['sec-websocket-protocol']).toBe('realtime.tts.msgpack.v3');
  expect(headers['sec-websocket-extensions']).toBeUndefined();
  expect(url).toBe('/v3/tts/live');
  expect(result.stderr).toMatch(/GET ws:\/\/127\.0\.0\.1:\d+\/v3\/tts\/live 101 \d+ ms request-1/);
  expect(result.stderr).not.toContain(server.key);
});

test('live status lists only the stored segments of a failed request', async () => {
  const segments = [
    { segmentId: 's1', state: 'completed' },
    { segmentId: 's2', state: 'failed_retryable' },
  ];
  const facts = { state: 'failed_retryable', retryable: true, units: 3, resultAvailable: true };
  const json = { requestId: 'r', ...facts, segments };
  const server = await startScriptedServer({
    http: { 'GET /v3/tts/requests/r': { status: 200, json } },
  });
  const { code, stdout } = await runFoley(['live', 'status', 'r'], { env: scripted(server) });
  expect([code, stdout.toString()]).toEqual([0, expect.stringMatching(/^stored +s1$/m)]);
});

test('recover reports the request of a killed command', async () => {
  const steps = [{ kind: 'pause' } as const];
  const faults = [{ on: 'received', event: 'flush', number: 1, when: 'before', steps } as const];
  const server = await startScriptedServer({
    connections: [{ steps: [{ kind: 'serve', faults, tamper: [], isLeftOpen: false }] }],
  });
  const args = ['live', ...WHO, '--request-id', 'mine', '-o', 'a.mp3', '--mode', 'reliable', 'Hi.'];
  const running = await startFoley(args, { env: scripted(server) });
  await server.gate.paused();
  running.signal('SIGKILL');
  const { sandbox } = await running.done;
  const told = await runFoley(['recover'], { sandbox });
  expect([told.code, told.stdout.toString()]).toEqual([
    26,
    expect.stringMatching(/foley live status mine.*--request-id mine is not billed twice/),
  ]);
  expect((await runFoley(['recover'], { sandbox })).code).toBe(0);
});

test('recover reports nothing after a killed command was resumed', async () => {
  const step = { kind: 'serve', faults: [], tamper: [], isLeftOpen: false } as const;
  const steps = [{ kind: 'pause' } as const];
  const faults = [{ on: 'sent', event: 'audio', number: 1, when: 'after', steps } as const];
  const server = await startScriptedServer({
    connections: [{ steps: [{ ...step, faults }] }, { steps: [step] }, { steps: [step] }],
  });
  const env = scripted(server);
  const running = await startFoley(reliably('mine'), { env });
  await server.gate.paused();
  running.signal('SIGKILL');
  const { sandbox } = await running.done;
  expect((await runFoley(reliably('another'), { sandbox, env })).code).toBe(0);
  const list = await runFoley(['recover', '--list', '--json'], { sandbox });
  expect(JSON.parse(list.stdout.toString())).toMatchObject({ items: [{ id: expect.any(String) }] });
  const went = await runFoley([...reliably('mine'), '--retry-failed'], { sandbox, env });
  expect([went.code, went.stderr]).toEqual([0, expect.anything()]);
  expect((await runFoley(['recover'], { sandbox })).stdout.toString()).toMatch(/^Nothing/);
  expect((await readdir(sandbox.out)).toSorted()).toEqual(['a.mp3']);
});

function reliably(id: string): string[] {
  return ['live', ...WHO, '--request-id', id, '-o', 'a.mp3', '--mode', 'reliable', 'Hi.'];
}
