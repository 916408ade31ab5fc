import { expect, test } from 'vitest';
import { runInShell } from '../../harness/in-shell.ts';

test('every command of a pipeline reports how it ended', async () => {
  const result = await runInShell('(exit 3) | (cat; exit 0) | (cat; exit 20)');
  expect(result).toMatchObject({ code: 20, pipeStatus: [3, 0, 20] });
});

test('only the last pipeline of a script counts', async () => {
  const result = await runInShell('false | true\necho one | cat');
  expect(result).toMatchObject({ code: 0, pipeStatus: [0, 0] });
  expect(result.stdout.toString()).toBe('one\n');
});

test('a command that dies of a signal is seen as the shell sees it', async () => {
  const result = await runInShell(`sh -c 'kill -TERM $$'`);
  expect(result).toMatchObject({ code: 143, pipeStatus: [143] });
});

test('a shell that is ended itself has no statuses', async () => {
  expect(await runInShell('kill -KILL $$')).toMatchObject({ signal: 'SIGKILL', pipeStatus: [] });
});

test('a script runs in the sandbox', async () => {
  const result = await runInShell('echo "$HOME"; pwd');
  expect(result.stdout.toString()).toBe(`${result.sandbox.home}\n${result.sandbox.out}\n`);
});
