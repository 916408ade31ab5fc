import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startInTerminal } from '../harness/terminal.ts';
import { startHostedService } from '../binary/support/hosted-service.ts';

const HTML = '<p>Hello <b>there</b></p>';
const SSML = '<speak>Hello</speak>';
const READS_HTML = 'reads it as HTML.';

/** A command, its stdin, the name of the text, and the sentence about what reads it. */
const COMMANDS: readonly (readonly [readonly string[], string, string, string])[] = [
  [['tts', '-o', 'a.mp3'], HTML, 'stdin looks like HTML', `\`--text-format html\` ${READS_HTML}`],
  [['tts', '-o', 'a.mp3'], SSML, 'stdin looks like SSML', '`--text-format ssml` reads'],
  [['tts', HTML, '-o', 'a.mp3'], '', 'the text looks like HTML', '`--text-format html`'],
  [['tts', '-f', 'page.txt', '-o', 'a.mp3'], '', 'page.txt looks like HTML', '`--text-format'],
  [['text'], 'One <break time="1s"/> two', 'stdin looks like SSML', 'SSML, within <speak> and'],
  [['jobs', 'create', '-o', 'a.mp3'], HTML, 'stdin looks like HTML', '`--text-format html`'],
  [['live', '-o', 'a.mp3'], HTML, 'stdin looks like HTML', '`foley tts --text-format html`'],
  [['live', HTML, '-o', 'a.mp3'], '', 'the text looks like HTML', '`foley tts --text-format'],
  [['batch', '--lines', '-', '--dry-run'], `${HTML}\n${HTML}`, 'item stdin-1 looks like', 'html'],
  [['batch', 'page.txt', '--dry-run'], '', 'item page looks like HTML', '`--text-format html`'],
];

async function noticesOf(args: readonly string[], input: string): Promise<readonly string[]> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'page.txt'), HTML);
  // The hosted service of the tests responds sooner than the built-in voice, but speaks neither live speech nor jobs.
  const isQuick = args[0] === 'tts';
  const { env } = isQuick ? await startHostedService() : { env: {} };
  const words = isQuick ? args : [...args, '--local'];
  const { code, stderr } = await runFoley(words, { sandbox, input, env });
  expect(code, stderr).toBe(0);
  return stderr.split('\n').filter((line) => line.includes('looks like'));
}

describe('a plain text that looks like a document', () => {
  test.each(COMMANDS)('is named once by %j', async (args, input, subject, advice) => {
    const [notice = '', ...others] = await noticesOf(args, input);
    expect(others).toEqual([]);
    expect(notice).toContain(`foley: ${subject}`);
    expect(notice).toContain('is spoken and billed with its marks');
    expect(notice).toContain(advice);
    expect(await noticesOf([...args, '--text-format', 'plain'], input)).toEqual([]);
  });

  test('is named before a request is sent, on a terminal too', async () => {
    const { env } = await startHostedService();
    const words = ['tts', HTML, '-o', 'a.mp3'];
    const { code, stdout } = await (await startInTerminal(words, { env })).done;
    expect(code).toBe(0);
    const shown = stdout.toString().replaceAll(/\s+/g, ' ');
    expect(shown.indexOf('the text looks like HTML')).toBeLessThan(shown.indexOf('a.mp3: '));
    expect(shown).toContain('the text looks like HTML');
  });

  test('is not named if a flag reads it', async () => {
    expect(await noticesOf(['text', '--text-format', 'html'], HTML)).toEqual([]);
  });
});
