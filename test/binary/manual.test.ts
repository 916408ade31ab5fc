import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { tree } from '../../commands/tree.ts';
import { isShown } from '../../src/cli/command.ts';
import { runInShell } from '../harness/in-shell.ts';
import { requireTool } from '../harness/require-tool.ts';

const MAN = fileURLToPath(new URL('../../man/', import.meta.url));

describe('the manual', () => {
  test('has a page of foley, and one of every command', async () => {
    const commands = tree.filter(isShown).map(({ name }) => `foley-${name}.1`);
    expect(new Set(await readdir(MAN))).toEqual(new Set(['foley.1', ...commands]));
  });

  test('passes the linter of mandoc without a word', async () => {
    requireTool('mandoc');
    const result = await runInShell(`mandoc -T lint '${MAN}'*.1`);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout.toString()).toBe('');
  });

  test('is set by groff without a warning', async () => {
    requireTool('groff');
    const script = `for page in '${MAN}'*.1; do groff -man -ww -z "$page" || exit 1; done`;
    const result = await runInShell(script);
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  test('keeps what looks like roff as text', async () => {
    for (const name of await readdir(MAN)) {
      const lines = (await readFile(`${MAN}${name}`, 'utf8')).split('\n');
      const requests = lines.filter((line) => /^[.']/.test(line));
      const known = /^\.(?:TH|SH|SS|TP|PP|nf|fi|br|\\")(?: |$)/;
      expect(requests.filter((line) => !known.test(line))).toEqual([]);
    }
  });
});
