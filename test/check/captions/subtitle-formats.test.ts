import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { Cue } from '../../../src/captions/cue-shape.ts';
import { lineText, SUBTITLE_FORMATS } from '../../../src/captions/cue-shape.ts';
import { readCues } from '../../../src/captions/read-cues.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';

const PYTHON_FILES = fileURLToPath(new URL('../python', import.meta.url));

const TEXT =
  'Hello there, my friend: "Rock & Roll" costs 3 dollars. ' +
  'A sentence that needs two lines of a subtitle, because it is long.\n\nAfter a pause, goodbye!';

test('other tools read the times and the text that foley wrote', { timeout: 600_000 }, async () => {
  const sandbox = await createSandbox();
  const names = SUBTITLE_FORMATS.map((format) => `talk.${format}`);
  const flags = names.flatMap((name) => ['--subtitles', name]);
  const done = await runFoley(['tts', TEXT, '-o', 'talk.mp3', ...flags], { sandbox });
  expect(done.code).toBe(0);
  const hebrew = '1\n00:00:00,500 --> 00:00:02,750\nYouTube הוא אתר,\nשנת 2026.\n\n';
  await writeFile(path.join(sandbox.out, 'hebrew.srt'), hebrew);
  const others = SUBTITLE_FORMATS.map((format) => `marked.${format}`);
  const conversion = ['captions', 'hebrew.srt', ...others.flatMap((name) => ['--subtitles', name])];
  expect((await runFoley(conversion, { sandbox })).code).toBe(0);
  const bin = await installPythonTools(path.join(PYTHON_FILES, 'subtitles.txt'));
  const script = path.join(PYTHON_FILES, 'read_subtitle_formats.py');
  const all = [...names, ...others];
  const { stdout } = await execa(path.join(bin, 'python'), [script, ...all], { cwd: sandbox.out });
  const read: Record<
    string,
    Record<string, readonly (readonly [number, number, string])[]>
  > = JSON.parse(stdout);
  for (const name of all) {
    const wanted = readCues(await readFile(path.join(sandbox.out, name), 'utf8'), name);
    expect(wanted.length).toBe(name.startsWith('talk') ? 3 : 1);
    for (const [tool, cues] of Object.entries(read[name] ?? {})) {
      const isLrc = name.endsWith('.lrc');
      const found = cues
        // ffmpeg shows the times of words, and the empty lines at pauses.
        .map(([start, end, text]) => [start, isLrc ? 0 : end, plain(text)])
        .filter(([, , text]) => text !== '');
      expect([name, tool, found]).toEqual([
        name,
        tool,
        wanted.map((cue) => [cue.startMs, isLrc ? 0 : cue.endMs, plain(textOf(cue))]),
      ]);
    }
  }
});

function textOf({ lines }: Cue): string {
  return lines.map((line) => lineText(line)).join(' ');
}

function plain(text: string): string {
  return text
    .replaceAll(/<\d\d:[\d:.]+>|\u200f/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
