import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { createFixture, outputOf, VOICE } from '../../binary/support/fixture.ts';

const STYLES = '[V4+ Styles]\nFormat: Name, Fontname\nStyle: Brand,Georgia\n';

test.each([
  [['tts', 'hi', '-v', VOICE, '-o', 'a.mp3', '--subtitles', 'a.ass'], 'text.txt'],
  [['tts', 'hi', '-v', VOICE, '-o', 'a.mp3', '--subtitles', 'a.ass'], 'missing.ass'],
  [['tts', 'hi', '-v', VOICE, '-o', 'a.mp3', '--subtitles', 'a.srt'], 'brand.ass'],
  [['tts', 'hi', '-v', VOICE, '-o', 'a.mp3'], 'brand.ass'],
  [['batch', 'text.txt', '-v', VOICE, '--subtitles', 'ass'], 'text.txt'],
  [['batch', 'text.txt', '-v', VOICE, '--subtitles', 'srt'], 'brand.ass'],
  [['script', 'text.txt', '-v', VOICE, '-o', 'a.mp3', '--subtitles', 'a.ass'], 'text.txt'],
])('%j with --ass-style %s is exit 2 before anything is bought', async (args, file) => {
  const fixture = await createFixture([]);
  await writeFile(path.join(fixture.sandbox.out, 'brand.ass'), STYLES);
  await writeFile(path.join(fixture.sandbox.out, 'text.txt'), 'Hello there.');
  const result = await fixture.run([...args, '--ass-style', file]);
  expect(result.code, result.stderr).toBe(2);
  expect(result.stderr).toContain(`--ass-style ${file}`);
  expect(fixture.server.requests).toEqual([]);
});

test('all commands that write subtitles use the styles', async () => {
  const sandbox = await createSandbox();
  await mkdir(path.join(sandbox.out, 'texts'));
  await writeFile(path.join(sandbox.out, 'brand.ass'), STYLES);
  await writeFile(path.join(sandbox.out, 'texts/b.txt'), 'Hello from the lighthouse.');
  const flags = ['--local', '--ass-style', 'brand.ass', '--subtitles'];
  for (const args of [
    ['tts', '-f', 'texts/b.txt', '-o', 'a.wav', ...flags, 'tts.ass'],
    ['align', 'a.wav', '-f', 'texts/b.txt', ...flags.slice(1), 'align.ass'],
    ['batch', 'texts', ...flags, 'ass'],
    ['script', 'texts/b.txt', '-v', 'Clara', '-o', 's.mp3', ...flags, 'script.ass'],
  ]) {
    const { code, stderr } = await runFoley(args, { sandbox });
    expect(code, stderr).toBe(0);
  }
  for (const name of ['tts.ass', 'align.ass', 'b.ass', 'script.ass']) {
    const content = (await outputOf(sandbox, name)).toString();
    expect(content, name).toContain('Style: Brand,Georgia\n');
    expect(content, name).toMatch(/^Dialogue: 0,[^,]+,[^,]+,Brand,/m);
  }
});
