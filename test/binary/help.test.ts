import { devNull } from 'node:os';
import { describe, expect, test } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { tree } from '../../commands/tree.ts';
import { EXIT_CODES } from '../../src/contract/exit-codes.ts';
import { globalOptions } from '../../src/cli/flags/global.ts';
import { inShell } from '../harness/in-shell.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { difference, snapshot } from '../harness/snapshot.ts';
import { requireFullDevice } from '../harness/posix.ts';

/** A system on which nothing can be read or written, and no network is configured. */
const DISCARD: RunOptions = {
  env: Object.fromEntries(
    ['HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'TMPDIR'].map((name) => [
      name,
      `${devNull}/nowhere`,
    ]),
  ),
};

async function shown(args: readonly string[], options: RunOptions = DISCARD): Promise<string> {
  const result = await runFoley(args, options);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  return result.stdout.toString();
}

function widthOf(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

describe('help needs nothing, and goes to stdout with 0', () => {
  test('foley alone says what to type next, on a screen of 24 lines', async () => {
    const text = await shown([]);
    expect(text).toMatch(/^Usage: foley <command>/);
    expect(text).toContain('foley tts "Hello from foley" -o hello.mp3');
    expect(text).toContain('foley doctor');
    expect(text.split(/\s+/)).toEqual(expect.arrayContaining(tree.map(({ name }) => name)));
    expect(widthOf(text)).toBeLessThanOrEqual(80);
    expect(text.split('\n').length).toBeLessThan(24);
  });

  test('foley --help says what there is', async () => {
    const text = await shown(['--help']);
    expect(text).toMatch(/^Usage: foley <command>/);
    for (const { name, summary } of tree) {
      expect(text).toMatch(new RegExp(`^  ${name} +${summary.slice(0, 20)}`, 'm'));
    }
    expect(widthOf(text)).toBeLessThanOrEqual(80);
    for (const args of [['-h'], ['help'], ['help', '--help']]) {
      expect(await shown(args)).toBe(text);
    }
  });

  test('foley help flags shows those that every command has', async () => {
    const text = await shown(['help', 'flags']);
    for (const { flags } of globalOptions()) expect(text).toContain(flags);
    expect(text).toContain('-h, --help');
  });

  test('foley help exit-codes is the table of them', async () => {
    const text = await shown(['help', 'exit-codes']);
    for (const { code, meaning } of Object.values(EXIT_CODES)) {
      expect(text).toMatch(new RegExp(`^ *${code} +`, 'm'));
      expect(text.replaceAll(/\s+/g, ' ')).toContain(meaning);
    }
  });

  test('also among other flags, and it writes nothing outside of the cache', async () => {
    const sandbox = await createSandbox();
    const before = await snapshot(sandbox.root);
    const text = await shown(['tts', '--speed', '1.5', '--help', '--local'], { sandbox });
    expect(text).toMatch(/^Usage: foley tts /);
    const { added, changed } = difference(before, await snapshot(sandbox.root));
    expect({ added: added.filter((name) => !name.startsWith('cache/')), changed }).toEqual({
      added: [],
      changed: [],
    });
  });

  test('says for each control what it takes', async () => {
    const text = await shown(['tts', '--help']);
    expect(text).toMatch(/--speed <n>.*0\.5 to 2/);
    expect(text).toMatch(/--volume <n>.*-20 to 20/);
    expect(text).toMatch(/--format <format>.*mp3, wav, ogg/);
  });

  test('has no colors by default', async () => {
    expect(await shown(['tts', '--help'])).not.toContain('\u001b');
  });
});

describe('the version', () => {
  test.each([[['--version']], [['-V']], [['tts', '-V']], [['voices', '--version']]])(
    '%j',
    async (args) => {
      expect(await shown(args)).toBe(`foley ${packageFile.version}\n`);
    },
  );
});

test('the version as a document', async () => {
  for (const args of [
    ['-V', '--json'],
    ['--json', '--version'],
    ['tts', '-V', '--json'],
  ]) {
    expect(JSON.parse(await shown(args))).toEqual({ version: packageFile.version });
  }
});

test('help that finds no room says so as every command does', async () => {
  const full = { stdout: { path: requireFullDevice() } };
  const help = await runFoley(['--help'], full);
  const command = await runFoley(['config', 'list'], full);
  expect(help.code).toBe(30);
  expect(help.stderr).toBe(command.stderr);
  const limited = await inShell('(ulimit -f 0; foley --help > help.txt)');
  expect([limited.code, limited.stderr]).toEqual([
    30,
    expect.stringMatching(/file would be larger/),
  ]);
});

describe('help with --json', () => {
  test.each([
    [['tts', '--help', '--json'], ['tts']],
    [
      ['help', 'voices', 'list', '--json'],
      ['voices', 'list'],
    ],
    [['--json', 'jobs', '--help'], ['jobs']],
  ])('%j describes the command %j', async (args, path) => {
    const command = parseJsonDocument(Buffer.from(await shown(args)));
    expect(command).toMatchObject({
      path,
      summary: expect.any(String),
      globalFlags: expect.arrayContaining([expect.objectContaining({ long: '--json' })]),
    });
  });

  test('of foley describes every command', async () => {
    const described = parseJsonDocument(Buffer.from(await shown(['--help', '--json'])));
    expect(described).toMatchObject({ commands: tree.map(({ name }) => ({ path: [name] })) });
  });
});
