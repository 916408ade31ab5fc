import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { parseJsonLines } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { drop, expectMessage, fail, send, serve } from '../../realtime/script.ts';
import type { ConnectionScript, ServerScript, Step } from '../../realtime/script.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import { spokenAudio } from '../../realtime/segment-audio.ts';
import { live, made, REQUEST_ID, scripted, WHO } from './spoken.ts';

const TEXT = 'One is here. Two is there! Is three?';
const SENTENCES = ['One is here.', 'Two is there!', 'Is three?'];

describe.each(['v3', 'v2'] as const)('%s', (protocol) => {
  test('speaks a given text in simple mode', async () => {
    const server = await startScriptedServer();
    const result = await live(server, ['--protocol', protocol, TEXT, '-o', 'a.mp3']);
    expect(result).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
    expect((await made(result, 'a.mp3')).equals(spokenAudio([TEXT], 'mp3'))).toBe(true);
    const [connection] = server.connections;
    expect(connection?.messages.map(({ event }) => event)).toEqual(['start', 'input']);
    expect(server.book.charges).toHaveLength(1);
  });

  test('speaks a pipe sentence by sentence in reliable mode', async () => {
    const server = await startScriptedServer();
    const result = await live(server, ['--protocol', protocol, '--format', 'pcm'], { input: TEXT });
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('quota left')]);
    // The service reports units, and no credits.
    expect(result.stderr).not.toContain('credits');
    expect(result.stdout.equals(spokenAudio(SENTENCES, 'pcm'))).toBe(true);
    expect(server.book.charges.map(({ segmentId, text }) => [segmentId, text])).toEqual(
      SENTENCES.map((text, index) => [`s${index + 1}`, text]),
    );
    const start = await server.connections[0]?.receivedMessage('start');
    expect(start).toMatchObject({ mode: 'reliable', requestId: REQUEST_ID });
  });
});

test('a wav file gets its lengths', async () => {
  const server = await startScriptedServer();
  const result = await live(server, ['-o', 'a.wav'], { input: TEXT });
  expect(result.code).toBe(0);
  const file = await made(result, 'a.wav');
  expect(file.readUInt32LE(4)).toBe(file.byteLength - 8);
  expect(file.readUInt32LE(40)).toBe(file.byteLength - 44);
  expect(file.subarray(44).equals(spokenAudio(SENTENCES, 'wav').subarray(44))).toBe(true);
});

test('--json prints every event as a line, and a summary last', async () => {
  const server = await startScriptedServer();
  const result = await live(server, ['--json', '-o', 'a.mp3'], { input: TEXT });
  const lines = parseJsonLines(result.stdout.toString());
  expect(lines.map((line) => (line as { event: string }).event)).toEqual([
    'ready',
    ...SENTENCES.flatMap(() => ['usage', 'segment']),
    'summary',
  ]);
  expect(lines.at(-1)).toEqual({
    event: 'summary',
    output: expect.stringMatching(/a\.mp3$/),
    bytes: spokenAudio(SENTENCES, 'mp3').byteLength,
    format: 'mp3',
    voiceId: 'voice-1',
    modelId: 'vendor-s21pro-flash',
    requestId: REQUEST_ID,
    units: SENTENCES.join('').length,
    creditsUsed: null,
    quotaRemaining: 1_000_000 - SENTENCES.join('').length,
    segments: 3,
    unspoken: [],
    target: 'hosted',
  });
});

test('parameters that the service ignores are reported', async () => {
  const warnings = [{ code: 'ignored_parameter', message: 'latency is not known' }];
  const begun = [send('authenticated'), expectMessage('start'), send('ready', { warnings })];
  const steps = [...begun, ...fail('quota_exceeded', 1008)];
  const server = await startScriptedServer({ connections: [{ steps }] });
  const { code, stderr } = await live(server, ['Hi.', '--latency', 'now', '-o', 'a.mp3']);
  server.takeProblems();
  expect([code, stderr]).toEqual([
    21,
    expect.stringContaining('foley: ignored_parameter: latency is not known\n'),
  ]);
});

test('an id may have any characters', async () => {
  const server = await startScriptedServer();
  const args = ['live', ...WHO, '--request-id', 'Kapitel fünf/1', 'Hi.', '-o', 'a.mp3'];
  expect((await runFoley(args, { env: scripted(server) })).code).toBe(0);
  const start = await server.connections[0]?.receivedMessage('start');
  expect(start).toMatchObject({ requestId: 'Kapitel fünf/1' });
});

test('a player gets the audio as it arrives', async () => {
  const server = await startScriptedServer();
  const result = await live(server, ['--player', 'tee heard.mp3'], { input: TEXT });
  expect(result.code).toBe(0);
  expect((await made(result, 'heard.mp3')).equals(spokenAudio(SENTENCES, 'mp3'))).toBe(true);
});

describe('an error', () => {
  test.each([
    ['that cannot be retried', fail('quota_exceeded', 1008), '4', 21],
    [
      'that can be retried, without retries left',
      fail('provider_timeout', 1013, { retryable: true }),
      '0',
      23,
    ],
  ])('%s prints no reconnection', async (_name, steps, retries, code) => {
    const connection = { steps: [send('authenticated'), expectMessage('start'), ...steps] };
    const server = await startScriptedServer({ connections: [connection] });
    const flags = ['-o', 'a.mp3', '--max-retries', retries];
    const result = await live(server, flags, { input: TEXT });
    server.takeProblems();
    expect([result.code, server.handshakes.length]).toEqual([code, 1]);
    expect(result.stderr).not.toContain('connecting');
  });

  test.each<[string, ServerScript, string, number, string | undefined]>([
    [
      'a dropped connection: the hint names the request id',
      { connections: afterAudio(drop()) },
      '0',
      26,
      `The same text with --request-id ${REQUEST_ID} --retry-failed resumes without a second charge.`,
    ],
    [
      'a request that failed for good: no hint to resume',
      { connections: afterAudio(drop()), afterDrop: 'failed_terminal' },
      '1',
      20,
      undefined,
    ],
    [
      'a refusal after the first audio: no hint to resume',
      { connections: afterAudio(...fail('unsupported_parameter', 1008)) },
      '1',
      20,
      undefined,
    ],
    [
      'a session that is too long: no hint to resume',
      { connections: afterAudio(...fail('session_limit_exceeded', 1008)) },
      '1',
      22,
      undefined,
    ],
  ])('%s', async (_name, script, retries, exitCode, resume) => {
    const server = await startScriptedServer(script);
    const flags = ['--json', '-o', 'a.mp3', '--max-retries', retries];
    const result = await live(server, flags, { input: TEXT });
    server.takeProblems();
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode });
    if (resume === undefined) expect(error.hint).not.toMatch(/--request-id|resume/);
    else expect(error.hint).toContain(resume);
  });
});

/** A connection that follows the spec up to the first audio message, then runs the given steps. */
function afterAudio(...steps: readonly Step[]): readonly ConnectionScript[] {
  const fault = { on: 'sent', event: 'audio', number: 1, when: 'after', steps } as const;
  return [{ steps: [serve({ faults: [fault] })] }];
}
