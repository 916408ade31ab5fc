import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import type { FaultServer } from '../fault-server/fault-server.ts';
import { refusedOrigin, startFaultServer } from '../fault-server/fault-server.ts';
import { healthyService, PROFILE_PATH } from '../fault-server/healthy-service.ts';
import { answer } from '../fault-server/http-text.ts';
import type { Rule } from '../fault-server/script.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { canaryKey } from '../harness/canary.ts';
import { hosted } from '../harness/hosted.ts';
import { inShell } from '../harness/in-shell.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/engine/', import.meta.url));

interface Row {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly text: string;
  readonly hint: string | null;
}

interface Examined {
  readonly code: number | null;
  readonly rows: readonly Row[];
  readonly stderr: string;
}

async function examine(options: RunOptions = {}, ...flags: readonly string[]): Promise<Examined> {
  const { code, stderr, stdout } = await runFoley(['doctor', '--json', ...flags], options);
  const document = parseJsonDocument(stdout);
  const row = {
    check: expect.any(String),
    state: expect.toBeOneOf(['ok', 'warning', 'problem']),
    text: expect.stringMatching(/\S/),
    hint: expect.toBeOneOf([null, expect.stringMatching(/\S/)]),
  };
  expect(document).toMatchObject({ ok: expect.any(Boolean), version: expect.any(String) });
  const { checks, ok } = document as { checks: Row[]; ok: boolean };
  for (const one of checks) expect(one).toStrictEqual(row);
  expect(ok).toBe(checks.every(({ state }) => state !== 'problem'));
  expect(code, 'exit 2 exactly when something must be mended').toBe(ok ? 0 : 2);
  return { code, rows: checks, stderr };
}

function of({ rows }: Examined, check: string): Row[] {
  return rows.filter((row) => row.check === check);
}

async function service(...rules: readonly Rule[]): Promise<FaultServer> {
  return startFaultServer([...rules, ...healthyService({ audio: await tinyAudio() })]);
}

function profileAt(date: Date): Rule {
  const body = { user_id: 'u', api_quota_remaining: 1, tier: 't', credits: 2 };
  const headers = { 'Content-Type': 'application/json', Date: date.toUTCString() };
  return { path: PROFILE_PATH, answer: answer(200, headers, JSON.stringify(body)) };
}

async function settings(sandbox: Sandbox, content: string): Promise<void> {
  await mkdir(path.join(sandbox.config, 'foley'), { recursive: true, mode: 0o700 });
  await writeFile(path.join(sandbox.config, 'foley', 'config.json'), content);
}

describe('where no problems found', () => {
  test('a fresh installation is well, and the embedded service speaks', async () => {
    const found = await examine({ env: { FOLEY_TARGET: 'local' } });
    expect(found.code).toBe(0);
    expect(of(found, 'embedded service')).toMatchObject([
      { state: 'ok', text: expect.stringMatching(/^starts and speaks \(wav, .*; \d+ voices\)$/) },
    ]);
    expect(of(found, 'service')).toMatchObject([{ text: 'commands use the embedded service' }]);
    expect(of(found, 'node')).toMatchObject([{ state: 'ok' }]);
    expect(of(found, 'folders')).toHaveLength(3);
    expect(of(found, 'engines')).toMatchObject([
      { state: 'ok', text: expect.stringContaining('foley engine add espeak-ng') },
    ]);
  });

  test('a hosted service answers and accepts the key', async () => {
    const server = await service();
    const found = await examine({ env: hosted(server) });
    expect(of(found, 'service')).toMatchObject([
      { state: 'ok', text: expect.stringContaining('accepts the key, for u-1 (studio)') },
      { state: 'ok', text: expect.stringContaining('agree') },
    ]);
  });

  test('for a person it is a table', async () => {
    const result = await inShell('foley doctor --local 2>&1');
    const lines = result.stdout.toString().trimEnd().split('\n');
    expect(lines[0]).toMatch(/^STATE +CHECK +FOUND$/);
    expect(lines[1]).toMatch(/^ok +node +\d+\.\d+\.\d+ on /);
    expect(lines.at(-1)).toMatch(/^(no problems found$|\d+ (problem|warning))/);
  });
});

describe('what must be mended is a problem, with what to do', () => {
  test.each<[string, () => Promise<Record<string, string>>, string]>([
    [
      'a key without a service',
      async () => ({ FOLEY_API_KEY: canaryKey() }),
      'is given, but the address of the service is missing',
    ],
    ['an empty key', async () => ({ FOLEY_API_KEY: '' }), 'FOLEY_API_KEY is empty'],
    ['no key', async () => ({ FOLEY_BASE_URL: 'https://a.test' }), 'no API key for a.test'],
    [
      'no service at the address',
      async () => ({ FOLEY_BASE_URL: await refusedOrigin(), FOLEY_API_KEY: canaryKey() }),
      'refused the connection',
    ],
    [
      'a rejected key',
      async () => {
        const rule = { path: PROFILE_PATH, answer: faults.errorAnswer(401) };
        return hosted(await service(rule));
      },
      'rejected the API key',
    ],
    [
      'a log-in page in between',
      async () => {
        const rule = { path: PROFILE_PATH, answer: faults.captivePortal() };
        return hosted(await service(rule));
      },
      'the response is text/html, not JSON',
    ],
    [
      'a clock that is wrong',
      async () => hosted(await service(profileAt(new Date(Date.now() - 3_600_000)))),
      'clock is 60 min ahead of that of',
    ],
  ])('%s', async (_what, environment, text) => {
    const found = await examine({ env: await environment() });
    const problems = of(found, 'service').filter(({ state }) => state === 'problem');
    expect(problems).toMatchObject([
      { text: expect.stringContaining(text), hint: expect.any(String) },
    ]);
    expect(found.rows.filter(({ state }) => state === 'problem')).toHaveLength(1);
  });

  test('settings that cannot be read', async () => {
    const sandbox = await createSandbox();
    await settings(sandbox, '{"speed": 1,\n  oops}');
    const found = await examine({ sandbox, env: { FOLEY_TARGET: 'local' } });
    expect(of(found, 'settings')).toMatchObject([
      {
        state: 'problem',
        text: expect.stringContaining('config.json is not valid JSON, at line 2'),
      },
    ]);
  });

  test('a setting in the environment that may not be', async () => {
    const found = await examine({ env: { FOLEY_TARGET: 'local', FOLEY_VOICE: ' ' } });
    expect(of(found, 'settings')).toMatchObject([{ state: 'problem' }]);
  });

  test('an engine that was added and is no longer there', async () => {
    const sandbox = await createSandbox();
    const env = { FOLEY_TARGET: 'local' };
    await cp(EXAMPLES, sandbox.out, { recursive: true });
    const added = await runFoley(['engine', 'add', 'morse', '--', 'node', 'morse.mjs'], {
      sandbox,
    });
    expect(added.code, added.stderr).toBe(0);
    const found = await examine({ sandbox, env });
    expect(of(found, 'engines')).toMatchObject([
      { state: 'ok', text: 'morse works and speaks en' },
    ]);
    await rm(path.join(sandbox.out, 'morse.mjs'));
    const broken = await examine({ sandbox, env });
    expect(of(broken, 'engines')).toMatchObject([
      { state: 'problem', hint: expect.stringContaining('foley engine remove morse') },
    ]);
  });

  test('an engine with natural voices is shown with its voices and its size on the disk', async () => {
    const sandbox = await createSandbox();
    await cp(EXAMPLES, sandbox.out, { recursive: true });
    await runFoley(['engine', 'add', 'morse', '--', 'node', 'morse.mjs'], { sandbox });
    const folder = path.join(sandbox.state, 'foley/engines');
    const cwd = path.join(folder, 'kokoro.0123456789abcdef');
    await cp(EXAMPLES, cwd, { recursive: true });
    const file = path.join(folder, 'engines.json');
    const { engines } = Object(JSON.parse(await readFile(file, 'utf8')));
    const installed = engines.map((engine: object) => ({ ...engine, name: 'kokoro', cwd }));
    await writeFile(file, JSON.stringify({ version: 1, engines: installed }));
    const found = await examine({ sandbox, env: { FOLEY_TARGET: 'local' } });
    expect(of(found, 'engines')).toMatchObject([
      {
        state: 'ok',
        text: expect.stringMatching(/^kokoro works and speaks en \(1 natural voice, \d+ kB\)$/),
      },
    ]);
  });

  test('folders that cannot be written, and a service that cannot start there', async () => {
    const sandbox = await createSandbox({ unprivileged: true });
    await chmod(sandbox.state, 0o555);
    const found = await examine({ sandbox, env: { FOLEY_TARGET: 'local' } });
    expect(of(found, 'folders')).toContainEqual(
      expect.objectContaining({
        state: 'problem',
        text: expect.stringContaining(`${path.join(sandbox.state, 'foley')} cannot be written`),
      }),
    );
    expect(of(found, 'embedded service')).toMatchObject([
      { state: 'problem', text: expect.stringContaining('cannot use its stored data') },
    ]);
  });
});

describe('what is strange is a warning', () => {
  test.each<[string, string, Record<string, string>, string]>([
    [
      'a variable that is misspelt',
      'variables',
      { FOLEY_APIKEY: 'x' },
      'Did you mean FOLEY_API_KEY?',
    ],
    [
      'certificates that are not checked',
      'node',
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      'Unset the variable; for your own certificate, set NODE_EXTRA_CA_CERTS.',
    ],
    [
      'a Node.js that prints what it sends',
      'node',
      { NODE_DEBUG: 'none' },
      'Unset the variable, especially',
    ],
    [
      'a proxy that is not read',
      'proxy',
      { ALL_PROXY: 'http://p.test:1' },
      'Set HTTPS_PROXY instead.',
    ],
  ])('%s', async (_what, check, env, hint) => {
    const found = await examine({ env: { FOLEY_TARGET: 'local', ...env } });
    expect(of(found, check)).toContainEqual(
      expect.objectContaining({ state: 'warning', hint: expect.stringContaining(hint) }),
    );
    expect(found.code).toBe(0);
  });

  test('keys that others could read; they no longer can', async () => {
    const sandbox = await createSandbox();
    await settings(sandbox, '{}');
    const accounts = { a: { baseUrl: 'https://a.test', apiKey: 'k' } };
    const file = path.join(sandbox.config, 'foley', 'accounts.json');
    await writeFile(file, JSON.stringify({ accounts }), { mode: 0o640 });
    const found = await examine({ sandbox, env: { FOLEY_TARGET: 'local' } });
    expect(of(found, 'accounts')).toContainEqual(
      expect.objectContaining({ state: 'warning', text: expect.stringContaining('(0640)') }),
    );
    const again = await examine({ sandbox, env: { FOLEY_TARGET: 'local' } });
    expect(of(again, 'accounts')).toMatchObject([{ state: 'ok', text: 'stored: a' }]);
  });

  test('no player', async () => {
    const found = await examine({ env: { FOLEY_TARGET: 'local', PATH: '/nowhere' } });
    expect(of(found, 'players')).toMatchObject([
      { state: 'warning', text: 'no player for mp3, wav, ogg is installed' },
    ]);
  });
});

describe('proxies', () => {
  test('are shown without their password', async () => {
    const env = {
      HTTPS_PROXY: 'http://user:hunter2@127.0.0.1:9',
      FOLEY_BASE_URL: 'https://a.test',
      FOLEY_API_KEY: canaryKey(),
    };
    const found = await examine({ env }, '--max-retries', '0');
    expect(of(found, 'proxy')).toMatchObject([
      { state: 'ok', text: 'HTTPS_PROXY set; requests to a.test go through http://127.0.0.1:9/' },
    ]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  test('that are no address are a problem', async () => {
    const env = { HTTPS_PROXY: 'socks5://p', FOLEY_BASE_URL: 'https://a.test', FOLEY_API_KEY: 'k' };
    const found = await examine({ env }, '--max-retries', '0');
    expect(of(found, 'proxy')).toMatchObject([{ state: 'problem' }]);
  });
});
