import { encode } from '@msgpack/msgpack';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { withPeak } from '../../harness/peak-memory.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { close, drop, expectMessage, fail, send, serve } from '../../realtime/script.ts';
import type { ConnectionScript, Step } from '../../realtime/script.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import { spokenAudio } from '../../realtime/segment-audio.ts';
import { live, made, scripted, WHO } from '../../binary/live/spoken.ts';

/** The small size omits cases that test/live has too. */
const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const TEXT = 'One is here. Two is there!';
const SENTENCES = ['One is here.', 'Two is there!'];
const READY: readonly Step[] = [send('authenticated'), expectMessage('start'), send('ready')];
const AT_THE_FIRST_AUDIO = { on: 'sent', event: 'audio', number: 1, when: 'after' } as const;
const WITHOUT_RETRY = ['--max-retries', '0', '--json', '-o', 'a.mp3'];

async function meet(connection: ConnectionScript, flags: readonly string[] = WITHOUT_RETRY) {
  const server = await startScriptedServer({ connections: [connection] });
  const result = await live(server, flags, { input: TEXT });
  // The client may send anything at the moment of a fault.
  server.takeProblems();
  return { result, server };
}

describe('an invalid message is exit 25', () => {
  const unreadable: readonly (readonly [string, readonly Step[]])[] = [
    ['garbage', [{ kind: 'sendBytes', bytes: Uint8Array.of(0xc1, 0xff, 0x00) }]],
    ['20,000 empty fragments', [{ kind: 'emptyFragments', count: 20_000 }]],
    ['a list', [{ kind: 'sendBytes', bytes: encode([1, 2]) }]],
    ['text', [{ kind: 'sendText', text: '{"event":"ready"}' }]],
    ['an unexpected message', [send('audio', { sequence: 1, audio: Buffer.of(1), format: 'mp3' })]],
  ];
  test.each(unreadable.slice(0, IS_FULL ? 5 : 2))('%s', async (_name, steps) => {
    const { result } = await meet({
      steps: [send('authenticated'), ...steps, { kind: 'silence' }],
    });
    expect(errorLine(result)).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
  });

  test('a frame of 300 MB, in bounded memory', async () => {
    const server = await startScriptedServer({
      connections: [{ steps: [...READY, { kind: 'giant', length: 300_000_000 }] }],
    });
    const args = ['live', ...WHO, TEXT, '--mode', 'reliable', ...WITHOUT_RETRY];
    const sandbox = await createSandbox();
    const { env: peakHook, peak } = await withPeak(sandbox);
    const env = scripted(server, peakHook);
    const result = await runFoley(args, { sandbox, env });
    server.takeProblems();
    expect(errorLine(result)).toMatchObject({ exitCode: 25 });
    // The base size differs between Node versions; the frame would come on top.
    expect(await peak()).toBeLessThan(200_000_000);
  });

  test('another subprotocol', async () => {
    const { result } = await meet({ subprotocol: 'realtime.tts.msgpack.v9' });
    expect(errorLine(result)).toMatchObject({ exitCode: 25, billed: 'no' });
  });
});

describe('silence times out', () => {
  const early: readonly (readonly [string, ConnectionScript])[] = [
    ['before the handshake is answered', { handshake: 'unanswered' }],
    ['before the greeting', { steps: [{ kind: 'silence' }] }],
    ['before ready', { steps: [send('authenticated'), { kind: 'silence' }] }],
  ];
  test.each(early.slice(0, IS_FULL ? 3 : 1))('%s', async (_name, connection) => {
    const waits = ['--response-timeout', '200ms', '--idle-timeout', '300ms'];
    const { result } = await meet(connection, [...WITHOUT_RETRY, ...waits]);
    expect(errorLine(result)).toMatchObject({ exitCode: 24, billed: 'no' });
  });

  const silence: readonly Step[] = [{ kind: 'silence' }];
  const late: readonly (readonly [string, ConnectionScript, string])[] = [
    ['when text was asked for', { steps: [...READY, ...silence] }, 'unknown'],
    [
      'during the audio',
      { steps: [serve({ faults: [{ ...AT_THE_FIRST_AUDIO, steps: silence }] })] },
      'unknown',
    ],
  ];
  // Long enough for everything before the silence on a slow machine.
  test.each(late.slice(0, IS_FULL ? 2 : 1))('%s', async (_name, connection, billed) => {
    const waits = ['--response-timeout', '20s', '--idle-timeout', '3s'];
    const { result } = await meet(connection, [...WITHOUT_RETRY, ...waits]);
    expect(errorLine(result)).toMatchObject({ exitCode: 26, billed });
  });
});

describe('a refused handshake has the exit codes of HTTP', () => {
  test.each([
    [401, 4],
    [429, 22],
  ])('%i is exit %i', async (status, exitCode) => {
    const { result } = await meet({ refuse: { status, headers: { 'Retry-After': '0' } } });
    expect(errorLine(result)).toMatchObject({ exitCode, status, billed: 'no' });
  });

  test('a transient one is retried', async () => {
    const server = await startScriptedServer({
      connections: [{ refuse: { status: 503 } }, { handshake: 'dropped' }],
    });
    const result = await live(server, ['-o', 'a.mp3'], { input: TEXT });
    expect([result.code, server.handshakes.length]).toEqual([0, 3]);
    expect(result.stderr).toContain('reconnecting (attempt 2)');
    expect((await made(result, 'a.mp3')).equals(spokenAudio(SENTENCES))).toBe(true);
  });

  test('a Retry-After that is too long is reported', async () => {
    const { result } = await meet({ refuse: { status: 429, headers: { 'Retry-After': '300' } } }, [
      '--json',
      '-o',
      'a.mp3',
    ]);
    expect(errorLine(result)).toMatchObject({ exitCode: 22, retryAfter: 300 });
  });
});

test.each([
  ['quota_exceeded', 21],
  ['something_new', 20],
])('the error %s is exit %i', async (code, exitCode) => {
  const steps = [send('authenticated'), expectMessage('start'), ...fail(code, 1008)];
  const { result } = await meet({ steps });
  expect(errorLine(result)).toMatchObject({ code, exitCode });
});

test('a retryable error and a service that shuts down are retried', async () => {
  const server = await startScriptedServer({
    connections: [
      { steps: [...READY.slice(0, 2), ...fail('provider_timeout', 1013, { retryable: true })] },
      { steps: [...READY, send('finish', { reason: 'server_draining', units: 0 }), close(1012)] },
    ],
  });
  const result = await live(server, ['-o', 'a.mp3'], { input: TEXT });
  server.takeProblems();
  expect(result.code).toBe(0);
  expect((await made(result, 'a.mp3')).equals(spokenAudio(SENTENCES))).toBe(true);
  expect(server.book.charges).toHaveLength(2);
});

test('repeated and reordered frames are delivered once, in order', async () => {
  const tamper = [
    { kind: 'swap', sequence: 1 },
    { kind: 'duplicate', sequence: 3 },
    { kind: 'duplicate', sequence: 5 },
  ] as const;
  const { result } = await meet({ steps: [serve({ tamper })] });
  expect(result.code).toBe(0);
  expect((await made(result, 'a.mp3')).equals(spokenAudio(SENTENCES))).toBe(true);
});

const dropped = (event: string): ConnectionScript => ({
  steps: [serve({ faults: [{ on: 'sent', event, number: 1, when: 'before', steps: [drop()] }] })],
});

describe('a simple conversation', () => {
  const simple = ['--mode', 'simple', '--json', '-o', 'a.mp3'];
  test('starts over when it is disconnected before its first audio', async () => {
    const server = await startScriptedServer({ connections: [dropped('ready')] });
    const args = ['live', ...WHO, TEXT, '-o', 'a.mp3'];
    const result = await runFoley(args, { env: scripted(server) });
    expect(result.code).toBe(0);
    expect((await made(result, 'a.mp3')).equals(spokenAudio([TEXT]))).toBe(true);
    expect(server.book.charges).toHaveLength(1);
  });

  test('is lost when it is disconnected later, and received audio is spooled', async () => {
    const { result } = await meet(dropped('finish'), simple);
    expect(errorLine(result)).toMatchObject({
      exitCode: 27,
      code: 'lost',
      billed: 'yes',
      hint: expect.stringContaining('saved in'),
    });
    expect(await made(result, 'a.mp3').catch(() => 'none')).toBe('none');
  });
});
