import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { refusedOrigin } from '../../fault-server/fault-server.ts';
import { PROFILE_PATH } from '../../fault-server/healthy-service.ts';
import { canaryKey } from '../../harness/canary.ts';
import { inShell } from '../../harness/in-shell.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { filesOf, snapshot, walk } from '../../harness/snapshot.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import {
  onSpeech,
  paidAudio,
  createFixture,
  SPEAK,
  speakWith,
  VOICE,
} from '../../binary/support/fixture.ts';

// The harness looks for the key of every scene in what each command printed and in every file that it
// left, here and in all other files of this folder; these tests lead it where a key could get to.

const { mp3 } = await paidAudio();

interface Way {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
}

const WAYS: readonly (readonly [where: string, prepare: (fixture: Fixture) => Promise<Way>])[] = [
  ['the environment', async ({ env }) => ({ args: [], env })],
  [
    'a file',
    async ({ sandbox, key, server }) => {
      const file = path.join(sandbox.home, 'key');
      await writeFile(file, `${key}\n`, { mode: 0o600 });
      return { args: ['--api-key-file', file], env: { FOLEY_BASE_URL: server.origin } };
    },
  ],
  [
    'stdin',
    async ({ key, server }) => ({
      args: ['--api-key-file', '-'],
      env: { FOLEY_BASE_URL: server.origin },
      input: `${key}\r\n`,
    }),
  ],
  [
    'an account',
    async (fixture) => {
      await storeAccount(fixture);
      return { args: [], env: {} };
    },
  ],
];

describe('a key is sent to the service only', () => {
  test.each(WAYS)('from %s', async (_where, prepare) => {
    const fixture = await createFixture([]);
    const { args, ...options } = await prepare(fixture);
    const words = speakWith([...args, '--verbose']);
    const result = await runFoley(words, { sandbox: fixture.sandbox, ...options });
    expect(result.code).toBe(0);
    expect(result.stderr).toMatch(/^foley: POST /m);
    expect(fixture.server.requests[0]?.header('authorization')).toBe(`Bearer ${fixture.key}`);
  });

  test.each([
    ['that says so', ['--dry-run']],
    ['as data', ['--dry-run', '--json']],
  ])('a dry run %s masks it and sends nothing', async (_how, flags) => {
    const fixture = await createFixture([]);
    const result = await fixture.speak(flags);
    expect(result.code).toBe(0);
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      method: 'POST',
      headers: { authorization: 'Bearer [redacted]' },
    });
    expect(fixture.server.connections).toBe(0);
  });

  test('there is no flag for it, and its value is not repeated', async () => {
    const fixture = await createFixture([]);
    for (const flags of [
      ['--api-key=super-secret'],
      ['--api-key', 'super-secret'],
      ['--apikey=super-secret'],
    ]) {
      const result = await fixture.speak(flags);
      expect(result.code).toBe(2);
      expect(result.stderr).toContain('unknown option');
      expect(result.stderr).not.toContain('super-secret');
    }
  });

  test.each(['http', 'HTTP,net', '*', 'h*', 'undici'])(
    'NODE_DEBUG=%s is refused',
    async (parts) => {
      const fixture = await createFixture([]);
      const env = { ...fixture.env, NODE_DEBUG: parts };
      const result = await runFoley(SPEAK, { sandbox: fixture.sandbox, env });
      expect(result).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/NODE_DEBUG.*API key/),
      });
      expect(fixture.server.connections).toBe(0);
    },
  );

  test('no player is started from the current folder, even with it in PATH', async () => {
    const fixture = await createFixture([]);
    const [here, found] = [fixture.sandbox.out, path.join(fixture.sandbox.harness, 'bin')];
    await mkdir(found);
    const players: readonly (readonly [folder: string, name: string])[] = [
      [here, 'mpv'],
      [found, 'mpv'],
    ];
    for (const [folder, name] of players) {
      const script = `#!/bin/sh\ncat > /dev/null\necho ${folder === here} > "${here}/ran"\n`;
      await writeFile(path.join(folder, name), script, { mode: 0o755 });
    }
    const env = { ...fixture.env, PATH: `:.:./:${found}:/usr/bin:/bin` };
    const result = await runFoley(['tts', 'hi', '-v', VOICE, '--play'], {
      sandbox: fixture.sandbox,
      env,
    });
    expect(result.code, result.stderr).toBe(0);
    expect(await readFile(path.join(here, 'ran'), 'utf8')).toBe('false\n');
  });

  test('it is not on the command line of the process, nor in the environment of a player', async () => {
    const fixture = await createFixture([onSpeech(faults.slowBody(mp3))]);
    const player = 'sh -c "env > seen; cat > /dev/null"';
    const running = await fixture.start(['tts', 'hi', '-v', VOICE, '--player', player]);
    await fixture.server.paused();
    const words = await readFile(`/proc/${running.pid}/cmdline`, 'utf8');
    expect(words).not.toContain(fixture.key);
    await fixture.server.advance();
    expect((await running.done).code).toBe(0);
    const seen = await readFile(path.join(fixture.sandbox.out, 'seen'), 'utf8');
    expect(seen).toContain('PATH=');
    expect(seen).not.toContain('FOLEY_API_KEY');
  });
});

describe('a key is in no error output', () => {
  test.each([400, 401, 403, 500])('%d that repeats it, in every kind of output', async (status) => {
    const fixture = await createFixture([onSpeech(faults.echoOfRequest(status))]);
    for (const flags of [[], ['--json'], ['--verbose'], ['--verbose', '--json'], ['-q']]) {
      const result = await fixture.speak(flags);
      expect(result.code).not.toBe(0);
      expect(result.stderr).toContain('[redacted]');
    }
    await fixture.run(['recover', '--list', '--json']);
    await fixture.run(['recover', '--json']);
  });

  test('a 200 that repeats it instead of audio', async () => {
    const fixture = await createFixture([
      onSpeech((request) =>
        faults.jsonInsteadOfAudio({ code: 'ERR', message: request.header('authorization') }),
      ),
    ]);
    for (const flags of [[], ['--json'], ['--verbose']]) {
      const result = await fixture.speak(flags);
      expect(result.code).toBe(25);
      expect(result.stderr).toContain('Bearer [redacted]');
    }
  });

  test.each<readonly [string, (fixture: Fixture) => Promise<readonly string[]>]>([
    ['a refused connection', async () => ['--base-url', await refusedOrigin()]],
    ['no encryption', async () => ['--base-url', 'http://api.example.test']],
    ['a host that is none', async () => ['--base-url', 'https://']],
    ['a redirect', async () => []],
  ])('%s', async (_what, flags) => {
    const fixture = await createFixture([
      { ...onSpeech(faults.redirectTo('https://api.example.test/?a=b', 307)), optional: true },
    ]);
    for (const more of [[], ['--json'], ['--verbose']]) {
      const result = await fixture.speak([...(await flags(fixture)), ...more]);
      expect(result.code).not.toBe(0);
      expect(result.stderr).not.toContain(fixture.key);
    }
  });

  test('an invalid key', async () => {
    const key = canaryKey();
    const fixture = await createFixture([]);
    for (const broken of [`${key}\u2019`, `${key}\n${key}`, ` ${key}`, `${key}\t`]) {
      const result = await fixture.speak(['--verbose'], { env: { FOLEY_API_KEY: broken } });
      expect(result.code).toBe(4);
    }
    expect(fixture.server.connections).toBe(0);
  });

  test('a bug with it in the stack', async () => {
    const fixture = await createFixture([]);
    const file = path.join(fixture.sandbox.harness, 'bug.cjs');
    await writeFile(
      file,
      `Buffer.prototype.readUInt8 = () => {
        throw new Error('Headers.append: "Bearer ' + process.env.FOLEY_API_KEY + '" is invalid');
      };`,
    );
    for (const flags of [[], ['--verbose'], ['--json']]) {
      const env = { NODE_OPTIONS: `--require "${file}"` };
      const result = await fixture.speak(flags, { env });
      expect(result.code).toBe(1);
      expect(result.stderr).toContain('Bearer [redacted]');
    }
  });

  test('a kill during the request', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(mp3), { times: 1 })]);
    const running = await fixture.start(speakWith(['--verbose']));
    await fixture.server.paused();
    running.signal('SIGKILL');
    expect((await running.done).signal).toBe('SIGKILL');
    await fixture.run(['recover', '--json']);
  });
});

describe('files on the disk', () => {
  test('are private, with any umask', async () => {
    const fixture = await createFixture([onSpeech(faults.resetMidBody(mp3), { nth: 1 })]);
    const open = await createFixture([onSpeech(faults.resetBeforeHeaders())]);
    const script = `umask 000; foley ${SPEAK.join(' ')}`;
    for (const { sandbox, env } of [fixture, open]) {
      await inShell(script, { sandbox, env });
      const modes = await modesBelow(path.join(sandbox.state, 'foley'));
      expect(modes.size).toBeGreaterThan(2);
      for (const [name, mode] of modes)
        expect(`${name} ${(mode & 0o077).toString(8)}`).toBe(`${name} 0`);
    }
  });

  test('an account file that others can read is made private', async () => {
    const fixture = await createFixture([]);
    const file = await storeAccount(fixture, 0o644);
    const env = { FOLEY_BASE_URL: fixture.server.origin };
    const result = await inShell(`foley ${SPEAK.join(' ')}`, { sandbox: fixture.sandbox, env });
    expect(result.code).toBe(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(result.stderr).toContain('accounts.json');
  });

  test('have a text only until its request is resolved, and never a key', async () => {
    const fixture = await createFixture([
      onSpeech(faults.resetBeforeHeaders(), { times: 1 }),
      onSpeech(faults.requestAlreadyCompleted(), { times: 1 }),
    ]);
    const text = 'a private text';
    await fixture.run(['tts', text, '-v', VOICE, '-o', 'hi.mp3', '--max-retries', '0']);
    for (const name of filesOf(await snapshot(fixture.sandbox.root))) {
      const content = await readFile(path.join(fixture.sandbox.root, name), 'utf8');
      if (!name.startsWith('state/foley/journal/')) expect(content).not.toContain(text);
      expect(content).not.toContain(fixture.key);
    }
    await fixture.run(['recover']);
    for (const name of filesOf(await snapshot(fixture.sandbox.root))) {
      const content = await readFile(path.join(fixture.sandbox.root, name), 'utf8');
      expect(content).not.toContain(text);
      expect(content).not.toContain(fixture.key);
    }
  });
});

test('account output on a terminal has no key', async () => {
  const fixture = await createFixture([
    { path: PROFILE_PATH, answer: faults.errorAnswer(401), optional: true },
  ]);
  await storeAccount(fixture);
  for (const args of [
    ['auth', 'status'],
    ['auth', 'status', '--json'],
    ['auth', 'list'],
    ['auth', 'list', '--json'],
    ['config', 'list', '--show-origin'],
    ['config', 'path'],
    ['profile', '--verbose'],
    ['api', 'GET', PROFILE_PATH, '--include', '--verbose'],
  ]) {
    const result = await fixture.run(args);
    expect(result.stderr + result.stdout.toString()).not.toContain(fixture.key);
  }
});

async function storeAccount({ sandbox, key, server }: Fixture, mode = 0o600): Promise<string> {
  const folder = path.join(sandbox.config, 'foley');
  await mkdir(folder, { mode: 0o700 });
  const file = path.join(folder, 'accounts.json');
  const account = { baseUrl: server.origin, apiKey: key };
  await writeFile(file, JSON.stringify({ accounts: { main: account } }), { mode });
  return file;
}

async function modesBelow(folder: string): Promise<Map<string, number>> {
  const modes = new Map([['.', (await stat(folder)).mode]]);
  for await (const { name, full } of walk(folder)) modes.set(name, (await stat(full)).mode);
  return modes;
}
