import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../../src/contract/exit-codes.ts';
import * as faults from '../../fault-server/catalogue.ts';
import { refusedOrigin } from '../../fault-server/fault-server.ts';
import { PROFILE_PATH } from '../../fault-server/healthy-service.ts';
import { errorLine } from '../../harness/error-line.ts';
import { inShell } from '../../harness/in-shell.ts';
import type { RunResult } from '../../harness/run-options.ts';
import type { SandboxOptions } from '../../harness/sandbox.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import { onSpeech, paidAudio, createFixture, SPEAK, VOICE } from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();

/** Codes of jobs and batches, tested elsewhere. */
const NOT_YET = [3, 28];
const produced = new Set<number>(NOT_YET);

afterAll(() => {
  const known = Object.values(EXIT_CODES).map(({ code }) => code);
  expect([...produced].sort((a, b) => a - b)).toStrictEqual(known);
});

interface Way {
  readonly rules?: Parameters<typeof createFixture>[0];
  readonly createSandbox?: SandboxOptions;
  readonly run: (fixture: Fixture) => Promise<RunResult>;
}

const speak =
  (...more: readonly string[]) =>
  (fixture: Fixture): Promise<RunResult> =>
    fixture.speak(['--json', ...more]);
const answered = (...more: Parameters<typeof onSpeech>): Pick<Way, 'rules'> => ({
  rules: [onSpeech(...more)],
});
const status = (code: number): Way => ({
  ...answered(faults.errorAnswer(code)),
  run: speak(),
});

const WAYS: readonly (readonly [code: number, jsonCode: string, what: string, way: Way])[] = [
  [
    1,
    'internal',
    'a bug',
    {
      async run(fixture) {
        const file = path.join(fixture.sandbox.harness, 'bug.cjs');
        await writeFile(file, `Buffer.prototype.readUInt8 = () => null.length;`);
        return fixture.speak(['--json'], { env: { NODE_OPTIONS: `--require "${file}"` } });
      },
    },
  ],
  [2, 'usage', 'a flag that is not there', { run: speak('--loud') }],
  [2, 'usage', 'a flag out of its range', { run: speak('--speed', '9') }],
  [2, 'usage', 'no text', { run: (fixture) => fixture.run(['tts', '', '-v', VOICE, '--json']) }],
  [
    2,
    'usage',
    'no voice',
    { run: (fixture) => fixture.run(['tts', 'hi', '--json', '-o', 'hi.mp3']) },
  ],
  [2, 'usage', 'audio and JSON on stdout', { run: speak('-o', '-') }],
  [2, 'usage', 'a format against the name', { run: speak('--format', 'wav') }],
  [2, 'usage', 'more credits than allowed', { run: speak('--max-credits', '1') }],
  [2, 'usage', '--local and an address', { run: speak('--local', '--base-url', 'http://[::1]') }],
  [
    2,
    'config',
    'an invalid setting',
    { run: (fixture) => fixture.speak(['--json'], { env: { FOLEY_TARGET: 'moon' } }) },
  ],
  [
    2,
    'usage',
    'a key without an address',
    { run: (fixture) => fixture.speak(['--json'], { env: { FOLEY_BASE_URL: '' } }) },
  ],
  [
    4,
    'no_key',
    'an empty key',
    { run: (fixture) => fixture.speak(['--json'], { env: { FOLEY_API_KEY: '' } }) },
  ],
  [
    4,
    'no_key',
    'no configuration for --hosted',
    {
      async run({ sandbox }) {
        const options = { sandbox, env: { FOLEY_TARGET: 'hosted' } };
        return inShell(`foley tts hi -v x -o hi.mp3 --json`, options);
      },
    },
  ],
  [
    4,
    'no_key',
    'an account’s key for another address',
    {
      async run(fixture) {
        await storeAccount(fixture);
        const env = { FOLEY_BASE_URL: fixture.server.origin };
        return inShell(`foley ${SPEAK.join(' ')} --json`, { sandbox: fixture.sandbox, env });
      },
    },
  ],
  [4, 'ERR_401', 'a key that is refused', status(401)],
  [4, 'ERR_403', 'a key that may not', status(403)],
  [20, 'ERR_400', 'a request that is refused', status(400)],
  [20, 'ERR_404', 'a voice that is not there', status(404)],
  [
    20,
    'ERR_REQUEST_ID_CONFLICT',
    'a key of another request',
    { ...answered(faults.requestIdConflict()), run: speak() },
  ],
  [21, 'ERR_402', 'no credits', status(402)],
  [22, 'ERR_RATE_LIMITED', 'too many', { ...answered(faults.rateLimited('0')), run: speak() }],
  [22, 'ERR_RATE_LIMITED', 'a long wait', { ...answered(faults.rateLimited('600')), run: speak() }],
  [23, 'ERR_500', 'a failure of the service', status(500)],
  [
    23,
    'ERR_MODEL_UNAVAILABLE',
    'an unavailable model',
    { ...answered(faults.unavailable('600')), run: speak() },
  ],
  [
    24,
    'network',
    'a refused connection',
    { run: async (fixture) => fixture.speak(['--json', '--base-url', await refusedOrigin()]) },
  ],
  [
    24,
    'timeout',
    'a read without a response',
    {
      rules: [{ path: PROFILE_PATH, answer: faults.silence() }],
      run: (fixture) =>
        fixture.run(['profile', '--json', '--response-timeout', '200ms', '--max-retries', '0']),
    },
  ],
  [25, 'bad_answer', 'a cut body', { ...answered(faults.shortBody(mp3)), run: speak() }],
  [25, 'bad_answer', 'a login page', { ...answered(faults.captivePortal()), run: speak() }],
  [25, 'bad_answer', 'no audio', { ...answered(faults.emptyBody()), run: speak() }],
  [25, 'bad_answer', 'other bytes', { ...answered(faults.wrongMagic()), run: speak() }],
  [
    25,
    'bad_answer',
    'speech redirected to another origin',
    { ...answered(faults.redirectTo('https://api.example.test/', 307)), run: speak() },
  ],
  [
    26,
    'unknown_outcome',
    'a billed request without a response',
    { ...answered(faults.resetBeforeHeaders()), run: speak() },
  ],
  [
    27,
    'ERR_REQUEST_ALREADY_COMPLETED',
    'a completed request',
    { ...answered(faults.requestAlreadyCompleted()), run: speak() },
  ],
  [
    30,
    'output',
    'a full disk',
    { createSandbox: { unprivileged: true }, run: speak('-o', '/dev/full') },
  ],
  [
    30,
    'output',
    'a read-only folder',
    {
      createSandbox: { unprivileged: true },
      async run(fixture) {
        await chmod(fixture.sandbox.out, 0o500);
        return fixture.speak(['--json']);
      },
    },
  ],
  [30, 'output', 'a player that fails', { run: speak('--player', 'false') }],
  [
    31,
    'exists',
    'a file that may not be replaced',
    {
      async run(fixture) {
        await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'older');
        return fixture.speak(['--json', '--no-clobber']);
      },
    },
  ],
  [
    32,
    'state',
    'a folder for state that is a file',
    {
      async run(fixture) {
        await writeFile(path.join(fixture.sandbox.state, 'foley'), '');
        return fixture.speak(['--json']);
      },
    },
  ],
  [
    32,
    'state',
    'a journal of a newer foley',
    {
      async run(fixture) {
        const folder = path.join(fixture.sandbox.state, 'foley', 'journal');
        await mkdir(folder, { recursive: true });
        const file = path.join(folder, '20240101T000000Z-1-00000000.jsonl');
        const json = '{"new":true}';
        const sum = crc32(`v3 ${json}`).toString(16).padStart(8, '0');
        await writeFile(file, `\nv3 ${sum} ${json}\n`);
        return fixture.speak(['--json']);
      },
    },
  ],
];

describe('the built program exits with every code of the contract', () => {
  test('0: everything was delivered', async () => {
    const fixture = await createFixture([]);
    expect((await fixture.speak(['--json'])).code).toBe(0);
    expect((await fixture.run(['--help'])).code).toBe(0);
    expect((await fixture.run(['help', 'exit-codes'])).code).toBe(0);
    produced.add(0);
  });

  test.each(WAYS)('%d (%s): %s', async (code, jsonCode, _what, { rules, createSandbox, run }) => {
    const fixture = await createFixture(rules ?? [], createSandbox);
    const result = await run(fixture);
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: code, code: jsonCode });
    expect(error.message).toMatch(/^\S.*\S$/s);
    // A hint says what to do next, or the message says what is allowed.
    if (error.hint === null) expect(error.message).toMatch(/; it (takes|may be) /);
    else expect(error.hint).toMatch(/^[A-Z`].*[.?]$/s);
    if (code === 2) expect(error.billed).toBe('no');
    produced.add(code);
  });

  test.each([
    [129, 'SIGHUP'],
    [130, 'SIGINT'],
    [143, 'SIGTERM'],
  ] as const)('%d: ended by %s', async (code, signal) => {
    const fixture = await createFixture([onSpeech(faults.silence())]);
    const running = await fixture.start(SPEAK);
    await fixture.server.paused();
    running.signal(signal);
    // Shells report a signal as 128 plus its number.
    expect(await running.done).toMatchObject({ code: null, signal });
    produced.add(code);
  });

  test('foley help exit-codes lists all codes', async () => {
    const fixture = await createFixture([]);
    const { stdout } = await fixture.run(['help', 'exit-codes']);
    for (const { code, meaning } of Object.values(EXIT_CODES)) {
      expect(stdout.toString()).toMatch(new RegExp(String.raw`^\s*${code}\s`, 'm'));
      expect(stdout.toString().replaceAll(/\s+/g, ' ')).toContain(meaning);
    }
  });
});

async function storeAccount({ sandbox, key }: Fixture): Promise<void> {
  const folder = path.join(sandbox.config, 'foley');
  await mkdir(folder, { mode: 0o700 });
  const account = { baseUrl: 'https://api.example.test', apiKey: key };
  const content = JSON.stringify({ accounts: { main: account } });
  await writeFile(path.join(folder, 'accounts.json'), content, { mode: 0o600 });
}
