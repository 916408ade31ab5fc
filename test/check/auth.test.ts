import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import type { FaultServer } from '../fault-server/fault-server.ts';
import { refusedOrigin, startFaultServer } from '../fault-server/fault-server.ts';
import { healthyService, PROFILE_PATH } from '../fault-server/healthy-service.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { canaryKey } from '../harness/canary.ts';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions, RunResult } from '../harness/run-options.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { filesOf, snapshot } from '../harness/snapshot.ts';
import { startInTerminal } from '../harness/terminal.ts';

interface Service {
  readonly server: FaultServer;
  /** The one key that it accepts. */
  readonly key: string;
}

async function service(): Promise<Service> {
  const key = canaryKey();
  return { server: await startFaultServer(healthyService({ audio: await tinyAudio(), key })), key };
}

/** Logs in by stdin, as a script does. */
async function logIn(
  { key, server }: Service,
  sandbox: Sandbox,
  ...flags: readonly string[]
): Promise<RunResult> {
  const result = await foley(sandbox, ['auth', 'login', '--base-url', server.origin, ...flags], {
    input: `${key}\n`,
  });
  expect(result.stderr).toContain('logged in to');
  expect(result.code).toBe(0);
  return result;
}

function foley(
  sandbox: Sandbox,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  return runFoley(args, { sandbox, ...options });
}

function accountsFile(sandbox: Sandbox): string {
  return path.join(sandbox.config, 'foley', 'accounts.json');
}

async function modeOf(file: string): Promise<number> {
  return (await stat(file)).mode & 0o777;
}

async function storedFiles(sandbox: Sandbox): Promise<string[]> {
  return filesOf(await snapshot(sandbox.config));
}

describe('foley auth login', () => {
  test('stores what the service accepted, in a file that only its owner can read', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    const result = await logIn(one, sandbox);
    expect(result.stdout.toString()).toBe('');
    expect(result.stderr).toMatch(
      /^logged in to 127\.0\.0\.1:\d+ as u-1; the account is "default"$/m,
    );
    expect(
      one.server.requests.map(({ header, method, path: at }) => [
        method,
        at,
        header('authorization'),
      ]),
    ).toStrictEqual([['GET', PROFILE_PATH, `Bearer ${one.key}`]]);
    expect(JSON.parse(await readFile(accountsFile(sandbox), 'utf8'))).toStrictEqual({
      current: 'default',
      accounts: { default: { baseUrl: one.server.origin, apiKey: one.key } },
    });
    expect(await modeOf(accountsFile(sandbox))).toBe(0o600);
    expect(await modeOf(path.dirname(accountsFile(sandbox)))).toBe(0o700);
  });

  test('from then on commands use the account', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    await logIn(one, sandbox);
    const result = await foley(sandbox, ['profile', '--json']);
    expect(parseJsonDocument(result.stdout)).toMatchObject({ user_id: 'u-1' });
    expect(one.server.requests.at(-1)?.header('authorization')).toBe(`Bearer ${one.key}`);
  });

  test('prints the account with --json, and never the key', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    const flags = ['--account', 'work', '--realtime-url', 'ws://127.0.0.1:9'];
    const result = await logIn(one, sandbox, ...flags, '--json');
    expect(parseJsonDocument(result.stdout)).toStrictEqual({
      account: 'work',
      baseUrl: one.server.origin,
      realtimeUrl: 'ws://127.0.0.1:9',
      userId: 'u-1',
      tier: 'studio',
    });
  });

  test('takes the key from a file', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    const file = path.join(sandbox.home, 'key');
    await writeFile(file, `${one.key}\r\n`);
    const flags = ['--base-url', one.server.origin, '--api-key-file', file];
    expect(await foley(sandbox, ['auth', 'login', ...flags])).toMatchObject({ code: 0 });
    expect(await storedFiles(sandbox)).toStrictEqual(['foley/accounts.json']);
  });

  test('a key that the service rejects is not stored', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    const args = ['auth', 'login', '--base-url', one.server.origin, '--json'];
    const result = await foley(sandbox, args, { input: canaryKey() });
    expect(errorLine(result)).toMatchObject({
      exitCode: 4,
      code: 'ERR_UNAUTHORIZED',
      hint: expect.stringMatching(/^Nothing was stored\./),
    });
    expect(await storedFiles(sandbox)).toStrictEqual([]);
  });

  test.each([
    ['a log-in page', faults.captivePortal(), 25],
    ['a failure', faults.errorAnswer(500), 23],
    ['no credits', faults.errorAnswer(402), 21],
    ['a profile of another kind', faults.jsonInsteadOfAudio({ hello: 'world' }), 25],
    ['another place', faults.redirectTo('https://elsewhere.test/', 302), 24],
  ])('%s instead of the profile stores nothing', async (_what, answer, exitCode) => {
    const [server, sandbox] = [
      await startFaultServer([{ path: PROFILE_PATH, answer }]),
      await createSandbox(),
    ];
    const args = ['auth', 'login', '--base-url', server.origin, '--max-retries', '0', '--json'];
    const result = await foley(sandbox, args, { input: canaryKey() });
    expect(errorLine(result)).toMatchObject({ exitCode });
    expect(await storedFiles(sandbox)).toStrictEqual([]);
  });

  test('stores nothing if no service responds', async () => {
    const sandbox = await createSandbox();
    const args = ['auth', 'login', '--base-url', await refusedOrigin(), '--max-retries', '0'];
    expect(await foley(sandbox, args, { input: canaryKey() })).toMatchObject({ code: 24 });
    expect(await storedFiles(sandbox)).toStrictEqual([]);
  });

  test.each<[string, string[], string | undefined, number, string]>([
    ['no service', [], 'k', 2, 'no service is given for the API key'],
    ['nothing on stdin', ['--base-url', 'https://a.test'], undefined, 2, 'stdin is empty'],
    ['an empty secret', ['--base-url', 'https://a.test'], '\n', 4, 'from stdin is empty'],
    ['a key that cannot be one', ['--base-url', 'https://a.test'], 'a b\n', 4, 'at position 2'],
    ['no encryption', ['--base-url', 'http://a.test'], 'k', 2, 'is not encrypted'],
    ['no address', ['--base-url', 'a.test'], 'k', 2, 'is not a service URL'],
    ['--local', ['--local'], 'k', 2, '--local selects the embedded service'],
    ['a bad name', ['--base-url', 'https://a.test', '--account', '../x'], 'k', 2, '--account is'],
  ])('%s is refused before anything is asked', async (_what, flags, input, code, message) => {
    const sandbox = await createSandbox();
    const result = await foley(
      sandbox,
      ['auth', 'login', ...flags],
      input === undefined ? {} : { input },
    );
    expect(result.stderr).toContain(message);
    expect(result).toMatchObject({ code, stdout: Buffer.alloc(0) });
    expect(await storedFiles(sandbox)).toStrictEqual([]);
  });

  test('a file that cannot be understood stays as it is', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    await logIn(one, sandbox);
    await writeFile(accountsFile(sandbox), '{"accounts": {');
    const args = ['auth', 'login', '--base-url', one.server.origin];
    expect(await foley(sandbox, args, { input: one.key })).toMatchObject({ code: 2 });
    expect(await readFile(accountsFile(sandbox), 'utf8')).toBe('{"accounts": {');
  });

  test('a second service gets an account of its own, and both stay', async () => {
    const [one, two, sandbox] = [await service(), await service(), await createSandbox()];
    await logIn(one, sandbox);
    const result = await logIn(two, sandbox);
    expect(result.stderr).toContain(`the account is "127.0.0.1-${two.server.port}"`);
    const list = await foley(sandbox, ['auth', 'list', '--json']);
    expect(parseJsonDocument(list.stdout)).toMatchObject({
      items: [
        { name: 'default', baseUrl: one.server.origin, current: false },
        { name: `127.0.0.1-${two.server.port}`, baseUrl: two.server.origin, current: true },
      ],
      total: 2,
    });
  });

  test('a second service never takes the name of an account of another one', async () => {
    const [one, two, sandbox] = [await service(), await service(), await createSandbox()];
    const host = `127.0.0.1-${two.server.port}`;
    await logIn(one, sandbox, '--account', host);
    await logIn(one, sandbox, '--account', 'default');
    const result = await logIn(two, sandbox);
    expect(result.stderr).toContain(`the account is "${host}-2"`);
    const list = parseJsonDocument((await foley(sandbox, ['auth', 'list', '--json'])).stdout);
    expect(list).toMatchObject({ total: 3 });
  });

  test('a realtime host in the environment belongs to the base URL beside it', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    const env = { FOLEY_REALTIME_URL: 'wss://elsewhere.test', FOLEY_BASE_URL: one.server.origin };
    const stored = async (args: readonly string[]): Promise<unknown> => {
      const result = await foley(sandbox, ['auth', 'login', '--json', ...args], {
        env,
        input: one.key,
      });
      return parseJsonDocument(result.stdout);
    };
    const flags = ['--base-url', one.server.origin];
    expect(await stored(flags)).toMatchObject({ realtimeUrl: null });
    expect(await stored([])).toMatchObject({ realtimeUrl: 'wss://elsewhere.test' });
  });

  test('reports that the environment takes precedence over accounts', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    const env = { FOLEY_BASE_URL: one.server.origin, FOLEY_API_KEY: canaryKey() };
    const result = await foley(sandbox, ['auth', 'login'], { env, input: one.key });
    expect(result.code).toBe(0);
    expect(result.stderr).toContain(
      'takes precedence over accounts: FOLEY_API_KEY, FOLEY_BASE_URL',
    );
  });
});

describe('foley auth login at a terminal', () => {
  test('asks for the key and does not show it', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    const running = await startInTerminal(['auth', 'login', '--base-url', one.server.origin], {
      sandbox,
    });
    await running.waitFor('stdout', /API key for .* \(hidden\): /);
    // Typed, taken back, typed again with a slip of the finger and an arrow key.
    running.write(`wrong\x15${one.key}x\x7f\x1b[A\r`);
    expect(await running.done).toMatchObject({ code: 0 });
    expect(one.server.requests.at(-1)?.header('authorization')).toBe(`Bearer ${one.key}`);
    expect(await storedFiles(sandbox)).toStrictEqual(['foley/accounts.json']);
  });

  test('Ctrl-C at the question ends it like any interrupted command', async () => {
    const sandbox = await createSandbox();
    const running = await startInTerminal(['auth', 'login', '--base-url', 'https://a.test'], {
      sandbox,
    });
    await running.waitFor('stdout', /\(hidden\)/);
    running.write('half\x03');
    expect(await running.done).toMatchObject({ code: 130 });
    expect(await storedFiles(sandbox)).toStrictEqual([]);
  });

  test.each([
    ['--no-input forbids it', ['--no-input'], '--no-input'],
    ['Enter alone', [], 'nothing was typed'],
  ])('%s: exit 2', async (_what, flags, message) => {
    const args = ['auth', 'login', '--base-url', 'https://a.test', ...flags];
    const running = await startInTerminal(args);
    if (flags.length === 0) {
      await running.waitFor('stdout', /\(hidden\)/);
      running.write('\r');
    }
    const result = await running.done;
    expect(result.stdout.toString()).toContain(message);
    expect(result.code).toBe(2);
  });
});

describe('an account’s key goes to its own service and nowhere else', () => {
  test('each account to its own', async () => {
    const [one, two, sandbox] = [await service(), await service(), await createSandbox()];
    await logIn(one, sandbox, '--account', 'one');
    await logIn(two, sandbox, '--account', 'two');
    expect(await foley(sandbox, ['profile', '--account', 'one'])).toMatchObject({ code: 0 });
    expect(await foley(sandbox, ['profile', '--account', 'two'])).toMatchObject({ code: 0 });
    for (const { key, server } of [one, two]) {
      const keys = server.requests.map(({ header }) => header('authorization'));
      expect(keys).toStrictEqual([`Bearer ${key}`, `Bearer ${key}`]);
    }
  });

  test.each<[string, (origin: string) => { args: string[]; env: Record<string, string> }]>([
    ['--base-url', (origin) => ({ args: ['--base-url', origin], env: {} })],
    ['FOLEY_BASE_URL', (origin) => ({ args: [], env: { FOLEY_BASE_URL: origin } })],
    ['--realtime-url', (origin) => ({ args: ['--realtime-url', origin], env: {} })],
    ['both flags', (origin) => ({ args: ['--account', 'one', '--base-url', origin], env: {} })],
  ])('not to another that %s names', async (_what, direct) => {
    const [one, other, sandbox] = [
      await service(),
      await startFaultServer([]),
      await createSandbox(),
    ];
    await logIn(one, sandbox, '--account', 'one');
    const { args, env } = direct(other.origin);
    const result = await foley(sandbox, ['profile', ...args, '--json'], { env });
    expect(errorLine(result)).toMatchObject({ exitCode: 4, code: 'no_key' });
    expect(other.connections).toBe(0);
    expect(one.server.requests).toHaveLength(1);
  });

  test('not to where its service redirects', async () => {
    const sandbox = await createSandbox();
    const audio = await tinyAudio();
    const other = await startFaultServer(healthyService({ audio }));
    const key = canaryKey();
    const server = await startFaultServer([
      { path: PROFILE_PATH, nth: 2, answer: faults.redirectTo(`${other.origin}${PROFILE_PATH}`) },
      ...healthyService({ audio, key }),
    ]);
    await logIn({ server, key }, sandbox);
    expect(await foley(sandbox, ['profile'])).toMatchObject({ code: 25 });
    expect(other.requests.map(({ header }) => header('authorization'))).toStrictEqual([undefined]);
  });

  test('a name that is not stored is refused with the nearest one', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    await logIn(one, sandbox, '--account', 'production');
    const result = await foley(sandbox, ['profile', '--account', 'prodution', '--json']);
    expect(errorLine(result)).toMatchObject({
      exitCode: 2,
      hint: 'Did you mean production?',
    });
  });

  test('with --local no account is looked at', async () => {
    const sandbox = await createSandbox();
    await mkdir(path.dirname(accountsFile(sandbox)));
    await writeFile(accountsFile(sandbox), '{');
    expect(await foley(sandbox, ['profile', '--local'])).toMatchObject({ code: 0 });
    expect(await foley(sandbox, ['profile'])).toMatchObject({ code: 2 });
  });

  test('--account with --local is a contradiction', async () => {
    const result = await foley(await createSandbox(), ['profile', '--account', 'x', '--local']);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('--local and --account name different services');
  });
});

describe('a file with keys that others can read', () => {
  test('is made private, with a warning', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    await logIn(one, sandbox);
    await chmod(accountsFile(sandbox), 0o644);
    const result = await foley(sandbox, ['profile', '--quiet']);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('contains API keys and was readable by others (0644)');
    expect(await modeOf(accountsFile(sandbox))).toBe(0o600);
    expect(await foley(sandbox, ['profile', '--quiet'])).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('foley auth status', () => {
  test('exit 4 without a key', async () => {
    const result = await foley(await createSandbox(), ['auth', 'status', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 4, code: 'no_key' });
    expect(result.stdout.toString()).toBe('');
  });

  test.each<[string, Record<string, string>, number]>([
    ['a key that is empty', { FOLEY_API_KEY: '', FOLEY_BASE_URL: 'https://a.test' }, 4],
    ['a service without a key', { FOLEY_BASE_URL: 'https://a.test' }, 4],
    ['a key without a service', { FOLEY_API_KEY: 'k' }, 2],
    ['a hosted service that is not configured', { FOLEY_TARGET: 'hosted' }, 4],
  ])('%s', async (_what, env, code) => {
    expect(await foley(await createSandbox(), ['auth', 'status'], { env })).toMatchObject({ code });
  });

  test('reports the source of the key by precedence, and sends no request', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    await logIn(one, sandbox, '--account', 'work');
    const file = path.join(sandbox.home, 'key');
    await writeFile(file, canaryKey());
    const env = { FOLEY_API_KEY: canaryKey() };
    const flags = ['--api-key-file', file];
    const status = async (args: readonly string[], variables: Record<string, string>) =>
      parseJsonDocument(
        (await foley(sandbox, ['auth', 'status', '--json', ...args], { env: variables })).stdout,
      );
    const address = { target: 'hosted', baseUrl: `${one.server.origin}/` };
    expect(await status([], {})).toMatchObject({
      ...address,
      key: { kind: 'account', name: 'work' },
    });
    expect(await status([], env)).toMatchObject({
      ...address,
      key: { kind: 'environment', name: 'FOLEY_API_KEY' },
    });
    expect(await status(flags, env)).toMatchObject({
      ...address,
      key: { kind: 'file', name: file },
    });
    expect(await status(['--account', 'work'], env)).toMatchObject({ key: { kind: 'account' } });
    expect(one.server.requests).toHaveLength(1);
  });

  test('for a person', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    await logIn(one, sandbox);
    const result = await foley(sandbox, ['auth', 'status']);
    expect(result.stdout.toString()).toBe(
      [
        `service   ${one.server.origin}/`,
        `realtime  ${one.server.origin.replace('http', 'ws')}/`,
        'key       from the stored account "default"',
        '',
      ].join('\n'),
    );
  });

  test('--check asks the service', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    await logIn(one, sandbox);
    const good = await foley(sandbox, ['auth', 'status', '--check']);
    expect(good.stdout.toString()).toContain('accepted  yes, for u-1 (studio)');
    const env = { FOLEY_API_KEY: canaryKey() };
    expect(await foley(sandbox, ['auth', 'status', '--check'], { env })).toMatchObject({ code: 4 });
  });

  test('the embedded service, on purpose, needs no key', async () => {
    const result = await foley(await createSandbox(), ['auth', 'status', '--local', '--json']);
    expect(parseJsonDocument(result.stdout)).toMatchObject({ target: 'embedded', key: null });
  });
});

describe('foley auth logout', () => {
  test('forgets the account in use, and its key', async () => {
    const [one, sandbox] = [await service(), await createSandbox()];
    await logIn(one, sandbox);
    expect(await foley(sandbox, ['auth', 'logout'])).toMatchObject({
      code: 0,
      stdout: Buffer.alloc(0),
    });
    expect(await readFile(accountsFile(sandbox), 'utf8')).not.toContain(one.key);
    expect(await foley(sandbox, ['auth', 'status'])).toMatchObject({ code: 4 });
  });

  test('leaves the others, of which the last one is in use', async () => {
    const [one, two, sandbox] = [await service(), await service(), await createSandbox()];
    await logIn(one, sandbox, '--account', 'one');
    await logIn(two, sandbox, '--account', 'two');
    expect(await foley(sandbox, ['auth', 'logout'])).toMatchObject({ code: 0 });
    expect(await foley(sandbox, ['profile'])).toMatchObject({ code: 0 });
    expect(one.server.requests).toHaveLength(2);
  });

  test('reports that no account is stored', async () => {
    const result = await foley(await createSandbox(), ['auth', 'logout']);
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain('no accounts are stored');
  });
});

test('foley auth list of nothing', async () => {
  const result = await foley(await createSandbox(), ['auth', 'list']);
  expect(result).toMatchObject({
    code: 0,
    stdout: Buffer.alloc(0),
    stderr: 'No stored accounts.\n',
  });
});
