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
import type { Scene } from '../../binary/support/scene.ts';
import { onSpeech, paidAudio, scene, SPEAK, speakWith, VOICE } from '../../binary/support/scene.ts';

// The harness looks for the key of every scene in what each command printed and in every file that it
// left, here and in all other files of this folder; these tests lead it where a key could get to.

const { mp3 } = await paidAudio();

interface Way {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
}

const WAYS: readonly (readonly [where: string, prepare: (stage: Scene) => Promise<Way>])[] = [
  ['the environment', async ({ env }) => ({ args: [], env })],
  [
    'a file',
    async ({ box, key, server }) => {
      const file = path.join(box.home, 'key');
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
    async (stage) => {
      await storeAccount(stage);
      return { args: [], env: {} };
    },
  ],
];

describe('a key is sent to the service only', () => {
  test.each(WAYS)('from %s', async (_where, prepare) => {
    const stage = await scene([]);
    const { args, ...options } = await prepare(stage);
    const words = speakWith([...args, '--verbose']);
    const result = await runFoley(words, { box: stage.box, ...options });
    expect(result.code).toBe(0);
    expect(result.stderr).toMatch(/^foley: POST /m);
    expect(stage.server.requests[0]?.header('authorization')).toBe(`Bearer ${stage.key}`);
  });

  test.each([
    ['that says so', ['--dry-run']],
    ['as data', ['--dry-run', '--json']],
  ])('a dry run %s masks it and sends nothing', async (_how, flags) => {
    const stage = await scene([]);
    const result = await stage.speak(flags);
    expect(result.code).toBe(0);
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      method: 'POST',
      headers: { authorization: 'Bearer [redacted]' },
    });
    expect(stage.server.connections).toBe(0);
  });

  test('there is no flag for it, and its value is not repeated', async () => {
    const stage = await scene([]);
    for (const flags of [
      ['--api-key=super-secret'],
      ['--api-key', 'super-secret'],
      ['--apikey=super-secret'],
    ]) {
      const result = await stage.speak(flags);
      expect(result.code).toBe(2);
      expect(result.stderr).toContain('unknown option');
      expect(result.stderr).not.toContain('super-secret');
    }
  });

  test.each(['http', 'HTTP,net', '*', 'h*'])('NODE_DEBUG=%s is refused', async (parts) => {
    const stage = await scene([]);
    const env = { ...stage.env, NODE_DEBUG: parts };
    const result = await runFoley(SPEAK, { box: stage.box, env });
    expect(result).toMatchObject({ code: 2, stderr: expect.stringMatching(/NODE_DEBUG.*API key/) });
    expect(stage.server.connections).toBe(0);
  });

  test('no player is started from the current folder, even with it in PATH', async () => {
    const stage = await scene([]);
    const [here, found] = [stage.box.out, path.join(stage.box.harness, 'bin')];
    await mkdir(found);
    const players: readonly (readonly [folder: string, name: string])[] = [
      [here, 'mpv'],
      [found, 'mpv'],
    ];
    for (const [folder, name] of players) {
      const script = `#!/bin/sh\ncat > /dev/null\necho ${folder === here} > "${here}/ran"\n`;
      await writeFile(path.join(folder, name), script, { mode: 0o755 });
    }
    const env = { ...stage.env, PATH: `:.:./:${found}:/usr/bin:/bin` };
    const result = await runFoley(['tts', 'hi', '-v', VOICE, '--play'], { box: stage.box, env });
    expect(result.code, result.stderr).toBe(0);
    expect(await readFile(path.join(here, 'ran'), 'utf8')).toBe('false\n');
  });

  test('it is not on the command line of the process, nor in the environment of a player', async () => {
    const stage = await scene([onSpeech(faults.slowBody(mp3))]);
    const player = 'sh -c "env > seen; cat > /dev/null"';
    const running = await stage.start(['tts', 'hi', '-v', VOICE, '--player', player]);
    await stage.server.paused();
    const words = await readFile(`/proc/${running.pid}/cmdline`, 'utf8');
    expect(words).not.toContain(stage.key);
    await stage.server.advance();
    expect((await running.done).code).toBe(0);
    const seen = await readFile(path.join(stage.box.out, 'seen'), 'utf8');
    expect(seen).toContain('PATH=');
    expect(seen).not.toContain('FOLEY_API_KEY');
  });
});

describe('a key is in no error output', () => {
  test.each([400, 401, 403, 500])('%d that repeats it, in every kind of output', async (status) => {
    const stage = await scene([onSpeech(faults.echoOfRequest(status))]);
    for (const flags of [[], ['--json'], ['--verbose'], ['--verbose', '--json'], ['-q']]) {
      const result = await stage.speak(flags);
      expect(result.code).not.toBe(0);
      expect(result.stderr).toContain('[redacted]');
    }
    await stage.run(['recover', '--list', '--json']);
    await stage.run(['recover', '--json']);
  });

  test('a 200 that repeats it instead of audio', async () => {
    const stage = await scene([
      onSpeech((request) =>
        faults.jsonInsteadOfAudio({ code: 'ERR', message: request.header('authorization') }),
      ),
    ]);
    for (const flags of [[], ['--json'], ['--verbose']]) {
      const result = await stage.speak(flags);
      expect(result.code).toBe(25);
      expect(result.stderr).toContain('Bearer [redacted]');
    }
  });

  test.each<readonly [string, (stage: Scene) => Promise<readonly string[]>]>([
    ['a refused connection', async () => ['--base-url', await refusedOrigin()]],
    ['no encryption', async () => ['--base-url', 'http://api.example.test']],
    ['a host that is none', async () => ['--base-url', 'https://']],
    ['a redirect', async () => []],
  ])('%s', async (_what, flags) => {
    const stage = await scene([
      { ...onSpeech(faults.redirectTo('https://api.example.test/?a=b', 307)), optional: true },
    ]);
    for (const more of [[], ['--json'], ['--verbose']]) {
      const result = await stage.speak([...(await flags(stage)), ...more]);
      expect(result.code).not.toBe(0);
      expect(result.stderr).not.toContain(stage.key);
    }
  });

  test('an invalid key', async () => {
    const key = canaryKey();
    const stage = await scene([]);
    for (const broken of [`${key}\u2019`, `${key}\n${key}`, ` ${key}`, `${key}\t`]) {
      const result = await stage.speak(['--verbose'], { env: { FOLEY_API_KEY: broken } });
      expect(result.code).toBe(4);
    }
    expect(stage.server.connections).toBe(0);
  });

  test('a bug with it in the stack', async () => {
    const stage = await scene([]);
    const file = path.join(stage.box.harness, 'bug.cjs');
    await writeFile(
      file,
      `Buffer.prototype.readUInt8 = () => {
        throw new Error('Headers.append: "Bearer ' + process.env.FOLEY_API_KEY + '" is invalid');
      };`,
    );
    for (const flags of [[], ['--verbose'], ['--json']]) {
      const env = { NODE_OPTIONS: `--require "${file}"` };
      const result = await stage.speak(flags, { env });
      expect(result.code).toBe(1);
      expect(result.stderr).toContain('Bearer [redacted]');
    }
  });

  test('a kill during the request', async () => {
    const stage = await scene([onSpeech(faults.stallMidBody(mp3), { times: 1 })]);
    const running = await stage.start(speakWith(['--verbose']));
    await stage.server.paused();
    running.signal('SIGKILL');
    expect((await running.done).signal).toBe('SIGKILL');
    await stage.run(['recover', '--json']);
  });
});

describe('files on the disk', () => {
  test('are private, with any umask', async () => {
    const stage = await scene([onSpeech(faults.resetMidBody(mp3), { nth: 1 })]);
    const open = await scene([onSpeech(faults.resetBeforeHeaders())]);
    const script = `umask 000; foley ${SPEAK.join(' ')}`;
    for (const { box, env } of [stage, open]) {
      await inShell(script, { box, env });
      const modes = await modesBelow(path.join(box.state, 'foley'));
      expect(modes.size).toBeGreaterThan(2);
      for (const [name, mode] of modes)
        expect(`${name} ${(mode & 0o077).toString(8)}`).toBe(`${name} 0`);
    }
  });

  test('an account file that others can read is made private', async () => {
    const stage = await scene([]);
    const file = await storeAccount(stage, 0o644);
    const env = { FOLEY_BASE_URL: stage.server.origin };
    const result = await inShell(`foley ${SPEAK.join(' ')}`, { box: stage.box, env });
    expect(result.code).toBe(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(result.stderr).toContain('accounts.json');
  });

  test('have a text only until its request is resolved, and never a key', async () => {
    const stage = await scene([
      onSpeech(faults.resetBeforeHeaders(), { times: 1 }),
      onSpeech(faults.requestAlreadyCompleted(), { times: 1 }),
    ]);
    const text = 'a private text';
    await stage.run(['tts', text, '-v', VOICE, '-o', 'hi.mp3', '--max-retries', '0']);
    for (const name of filesOf(await snapshot(stage.box.root))) {
      const content = await readFile(path.join(stage.box.root, name), 'utf8');
      if (!name.startsWith('state/foley/journal/')) expect(content).not.toContain(text);
      expect(content).not.toContain(stage.key);
    }
    await stage.run(['recover']);
    for (const name of filesOf(await snapshot(stage.box.root))) {
      const content = await readFile(path.join(stage.box.root, name), 'utf8');
      expect(content).not.toContain(text);
      expect(content).not.toContain(stage.key);
    }
  });
});

test('account output on a terminal has no key', async () => {
  const stage = await scene([
    { path: PROFILE_PATH, answer: faults.errorAnswer(401), optional: true },
  ]);
  await storeAccount(stage);
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
    const result = await stage.run(args);
    expect(result.stderr + result.stdout.toString()).not.toContain(stage.key);
  }
});

async function storeAccount({ box, key, server }: Scene, mode = 0o600): Promise<string> {
  const folder = path.join(box.config, 'foley');
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
