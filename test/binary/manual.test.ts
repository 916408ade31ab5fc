import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { tree } from '../../commands/tree.ts';
import { isShown } from '../../src/cli/command.ts';
import { errorLine } from '../harness/error-line.ts';
import { runInShell } from '../harness/in-shell.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';

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

describe('foley help --man', () => {
  test.each([
    [['help', '--man'], 'FOLEY(1)'],
    [['help', '--man', 'tts'], 'FOLEY-TTS(1)'],
    [['help', 'tts', '--man'], 'FOLEY-TTS(1)'],
    [['help', 'man', 'tts'], 'FOLEY-TTS(1)'],
  ])('%j shows the page %s', async (words, title) => {
    requireTool('man');
    const result = await runFoley(words);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout.toString()).toMatch(
      new RegExp(`^${title.replaceAll(/[()]/g, String.raw`\$&`)} .*\\n\\nNAME\\n`),
    );
  });

  test('names the help of the command where the program `man` is not installed', async () => {
    const result = await runFoley(['help', '--man', 'tts', '--json'], { env: { PATH: '' } });
    expect(errorLine(result)).toMatchObject({
      exitCode: 2,
      message: 'the program `man` is not installed',
      hint: expect.stringMatching(/^`foley tts --help` shows .*foley-tts\.1\.$/),
    });
  });

  test('of an unknown command names the nearest one', async () => {
    const error = errorLine(await runFoley(['help', '--man', 'ttss', '--json']));
    expect(error).toMatchObject({ exitCode: 2, hint: 'Did you mean `foley help --man tts`?' });
  });
});
