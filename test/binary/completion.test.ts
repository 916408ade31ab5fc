import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { inShell, runInShell } from '../harness/in-shell.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

const COMPLETIONS = fileURLToPath(new URL('../../completions/', import.meta.url));
const SHELLS = fileURLToPath(new URL('completion/shells/', import.meta.url));

/** What is typed, and the word that it becomes. */
const CASES = [
  ['foley doc', 'doctor'],
  ['foley jobs wa', 'wait'],
  ['foley --json jobs downl', 'download'],
  ['foley --account ours jobs crea', 'create'],
  ['foley tts --no-clob', '--no-clobber'],
  ['foley tts "hello there" --verb', '--verbose'],
  ['foley tts --format mp', 'mp3'],
  ['foley tts --file=hello-th', '--file=hello-there.txt'],
  ['foley tts --api compat-s', 'compat-speech'],
  ['foley tts -f hello-th', 'hello-there.txt'],
  ['foley tts -v voice-of-m', 'voice-of-maya'],
  ['foley tts --voice-name May', 'Maya'],
  ['foley tts --model vendor-s21pro-fl', 'vendor-s21pro-flash'],
  ['foley voices get voice-of-m', 'voice-of-maya'],
  ['foley jobs get job-1', 'job-17'],
  ['foley config get lan', 'language'],
  ['foley completion install --shell po', 'powershell'],
] as const;

describe('completes commands, flags, their words, files and known names in a real', () => {
  test('bash', async () => {
    const offered = await complete(
      await sandboxWithNames(),
      `bash '${SHELLS}complete.bash'`,
      'foley.bash',
    );
    // bash completes what is behind the equals sign.
    expect(offered).toEqual(CASES.map(([, word]) => word.replace('--file=', '')));
  }, 60_000);

  test('zsh', async () => {
    requireTool('zsh');
    const offered = await complete(await sandboxWithNames(), `zsh -f '${SHELLS}complete.zsh'`, '');
    expect(offered.map((line) => line.trimEnd().split(' ').at(-1))).toEqual(
      CASES.map(([, word]) => word),
    );
  }, 60_000);

  test('fish', async () => {
    requireTool('fish');
    const offered = await complete(
      await sandboxWithNames(),
      `fish '${SHELLS}complete.fish'`,
      'foley.fish',
    );
    expect(offered).toEqual(CASES.map(([, word]) => word));
  }, 60_000);
});

describe('runs nothing that a service said, in a real', () => {
  const HOSTILE = [
    '$(touch pwned)',
    '`touch pwned`',
    "';touch pwned;'",
    '"; touch pwned; "',
    'a\\nb*',
  ];

  test.each([
    ['bash', `bash '${SHELLS}complete.bash'`, 'foley.bash'],
    ['zsh', `zsh -f '${SHELLS}complete.zsh'`, ''],
    ['fish', `fish '${SHELLS}complete.fish'`, 'foley.fish'],
  ])(
    '%s',
    async (shell, command, script) => {
      requireTool(shell);
      const sandbox = await createSandbox();
      const lines = HOSTILE.map((name) => `${name}\t${name}`).join('\n');
      await writeFile(path.join(sandbox.harness, 'names'), `${lines}\n`);
      const shim = `#!/bin/sh\ncat '${sandbox.harness}/names'\n`;
      await writeFile(path.join(sandbox.harness, 'foley'), shim, { mode: 0o755 });
      const typed = ['', '$', "'", 'a'].map((begun) => `foley tts -v ${begun}\n`).join('');
      const result = await runInShell(`${command} '${COMPLETIONS}${script}'`, {
        sandbox,
        input: typed,
      });
      expect(result.stdout.toString()).toContain('foley tts -v');
      expect(await readdir(sandbox.out)).toEqual([]);
    },
    60_000,
  );
});

test('names are remembered from what was listed, and only those that are plain words', async () => {
  const sandbox = await createSandbox();
  await runFoley(['voices', 'list', '--local'], { sandbox });
  await runFoley(['jobs', 'create', '--local', 'hello'], { sandbox });
  const voices = await runFoley(['__complete', 'voices', 'get', ''], { sandbox });
  expect(voices.stdout.toString()).toMatch(/^[\w-]+\tClara$/m);
  const jobs = await runFoley(['__complete', 'jobs', 'get', ''], { sandbox });
  expect(jobs.stdout.toString()).toMatch(/^\S+\t\n$/);
  const nothing = await runFoley(['__complete', 'voices', 'get', '']);
  expect(nothing).toMatchObject({ code: 0, stderr: '' });
  expect(nothing.stdout.toString()).toBe('');
});

describe('foley __complete', () => {
  const FILES = 'files';
  test.each([
    [['jobs', 'wa'], ['wait']],
    [['voices', 'clo'], ['clone']],
    [['nonsense', 'wa'], []],
    [
      ['tts', '--format=m'],
      ['--format=mp3', '--format=m4a', '--format=m4b'],
    ],
    [['tts', '--output='], [FILES]],
    [['tts', '-o', ''], [FILES]],
    [['tts', '--no-clobber', '--no-clob'], []],
    [['tts', '--', '--no-clob'], []],
    [['tts', '--json', '-f', '--', '--verb'], ['--verbose']],
    [['config', 'set', 'lan'], ['language']],
    [['models', '--columns', 'for'], ['formats']],
    [['models', '--columns=id,lon'], ['--columns=id,longest-text']],
    [['config', 'set', 'language', 'lan'], []],
    [['completion', 'ba'], ['bash']],
    [['__comp'], []],
    [
      ['completion', 'install', '--shell', ' '],
      ['bash', 'zsh', 'fish', 'powershell'],
    ],
  ])('offers for %j: %j', async (words, offered) => {
    const result = await runFoley(['__complete', ...words], { sandbox: await sandboxWithNames() });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const lines = result.stdout.toString().split('\n').slice(0, -1);
    expect(lines.map((line) => line.split('\t')[0])).toEqual(offered);
  });

  test('offers accounts, and nothing when their file is damaged', async () => {
    const sandbox = await sandboxWithNames();
    const file = path.join(sandbox.config, 'foley', 'accounts.json');
    const accountsFile = { accounts: { ours: { baseUrl: 'http://127.0.0.1:9', apiKey: 'a-key' } } };
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(accountsFile), { mode: 0o600 });
    const accounts = await runFoley(['__complete', 'tts', '--account', 'o'], { sandbox });
    expect(accounts.stdout.toString()).toMatch(/^ours\thttp/);
    await writeFile(file, '{');
    const damaged = await runFoley(['__complete', 'tts', '--account', 'o'], { sandbox });
    expect(damaged).toMatchObject({ code: 0, stderr: '' });
    expect(damaged.stdout.toString()).toBe('');
  });

  test.each(['foley.bash', '_foley', 'foley.fish', 'foley.ps1'])(
    'does the work, so that %s is short',
    async (script) => {
      const text = await readFile(path.join(COMPLETIONS, script), 'utf8');
      expect(text.split('\n').length).toBeLessThan(60);
      expect(text).toContain('foley __complete');
    },
  );
});

describe('completion install', () => {
  test.each([
    ['bash', '.local/share/bash-completion/completions/foley', 'foley.bash'],
    ['zsh', '.local/share/zsh/site-functions/_foley', '_foley'],
    ['fish', '.config/fish/completions/foley.fish', 'foley.fish'],
    ['powershell', '.config/powershell/foley.ps1', 'foley.ps1'],
  ])('puts the script where %s looks for it', async (shell, place, script) => {
    const sandbox = await createSandbox();
    const env = { XDG_DATA_HOME: '', XDG_CONFIG_HOME: '' };
    const result = await runFoley(['completion', 'install', '--shell', shell], { sandbox, env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const file = path.join(sandbox.home, place);
    expect(result.stdout.toString()).toContain(`Wrote ${file}\n`);
    const same = await runInShell(`cmp '${file}' '${COMPLETIONS}${script}'`, { sandbox });
    expect(same.code).toBe(0);
  });

  test('takes the login shell, and says which there are when that is another', async () => {
    const sandbox = await createSandbox();
    const taken = await runFoley(['completion', 'install', '--json'], {
      sandbox,
      env: { SHELL: '/usr/bin/fish' },
    });
    expect(JSON.parse(taken.stdout.toString())).toMatchObject({ shell: 'fish' });
    const other = await runFoley(['completion', 'install'], {
      sandbox,
      env: { SHELL: '/bin/tcsh' },
    });
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/"tcsh".*\n.*--shell bash, zsh, fish, powershell/);
  });
});

test('completion bash prints the script as it comes with foley', async () => {
  const sandbox = await createSandbox();
  const result = await inShell(`foley completion bash | cmp - '${COMPLETIONS}foley.bash'`, {
    sandbox,
  });
  expect(result).toMatchObject({ code: 0, stderr: '' });
});

async function sandboxWithNames(): Promise<Sandbox> {
  const sandbox = await createSandbox();
  const names = path.join(sandbox.cache, 'foley', 'names');
  const lists = {
    voices: 'voice-of-maya\tMaya\nvoice-of-leo\tLeo\n',
    models: 'vendor-s21pro-flash\t\nvendor-s1\t\n',
    jobs: 'job-17\tHello there\njob-23\t\n',
  };
  await runInShell(`mkdir -p '${names}'; echo hello > hello-there.txt; echo bye > bye.txt`, {
    sandbox,
  });
  for (const [kind, lines] of Object.entries(lists)) {
    await writeFile(path.join(names, `${kind}.tsv`), lines);
  }
  return sandbox;
}

/** Types all cases into a shell; gives what each of them was completed to. */
async function complete(sandbox: Sandbox, command: string, script: string): Promise<string[]> {
  const input = CASES.map(([typed]) => `${typed}\n`).join('');
  const result = await inShell(`${command} '${COMPLETIONS}${script}'`, { sandbox, input });
  const lines = result.stdout.toString().trimEnd().split('\n');
  return lines.map((line) => line.split(' => ')[1]?.trim() ?? line);
}
