import { devNull } from 'node:os';
import { expect, test } from 'vitest';
import { tree } from '../../commands/tree.ts';
import type { CommandNode } from '../../src/cli/command.ts';
import { isBranch } from '../../src/cli/command.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';

/** A system on which nothing can be read or written, and no network is configured. */
const DISCARD: RunOptions = {
  env: Object.fromEntries(
    ['HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'TMPDIR'].map((name) => [
      name,
      `${devNull}/nowhere`,
    ]),
  ),
};

/** Every command with its path, nouns included; the help of `help` is that of foley. */
const paths: readonly (readonly string[])[] = tree
  .filter(({ name }) => name !== 'help')
  .flatMap((node) => [[node.name]].concat(pathsBelow(node)));

function pathsBelow(node: CommandNode): string[][] {
  return isBranch(node) ? node.children.map(({ name }) => [node.name, name]) : [];
}

test.each(paths.map((path) => [path.join(' '), path] as const))('foley %s', async (_, path) => {
  const text = await shown([...path, '--help']);
  expect(text).toMatch(new RegExp(`^Usage: foley ${path.join(' ')} `));
  expect(text).toContain('`foley help flags`');
  expect(text).not.toMatch(/^ {2}--(json|base-url|idle-timeout) /m);
  expect(widthOf(text)).toBeLessThanOrEqual(80);
  expect(await shown([...path, '-h'])).toBe(text);
  expect(await shown(['help', ...path])).toBe(text);
});

async function shown(args: readonly string[]): Promise<string> {
  const result = await runFoley(args, DISCARD);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  return result.stdout.toString();
}

function widthOf(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}
