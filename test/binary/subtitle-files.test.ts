import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseJsonDocument, parseJsonLines } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunResult } from '../harness/run-options.ts';
import { createSandbox } from '../harness/sandbox.ts';

// No blank lines, empty cues, a row of white space, references, ruby, several voices, and an identifier like a comment.
const FILE = `WEBVTT
1
00:01.000 --> 00:02.000
2
00:03.000 --> 00:05.000
<i><v Ann>Caf&eacute; it&#39;s lit.</i>
 
<v Bob>Good <ruby>night<rt>nait</rt></ruby>.

NOTE-1
00:06.000 --> 00:07.000
- Sleep well.

`;
const SPOKEN = "Café it's lit. Good night. Sleep well.";

test('each command reads a subtitle file with missing and empty rows in the same way', async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a.vtt'), FILE);
  const run = async (...args: readonly string[]) => runFoley(args, { sandbox });
  expect((await run('text', '-f', 'a.vtt')).stdout.toString()).toBe(`${SPOKEN}\n`);
  const offline = ['--local', '--dry-run', '--json'];
  const tts = await run('tts', '-f', 'a.vtt', ...offline);
  expect(parseJsonDocument(tts.stdout)).toMatchObject({ body: { text: SPOKEN } });
  const batch = await run('batch', 'a.vtt', '--output-dir', 'audio', ...offline);
  expect(lastLine(batch)).toMatchObject({ event: 'plan', characters: SPOKEN.length });
  const cast = ['--cast', 'Ann=Clara', '--cast', 'Bob=Ewan'];
  const script = await run('script', 'a.vtt', '-o', 'a.wav', '-v', 'Martin', ...cast, ...offline);
  const texts = ["Café it's lit.", 'Good night.', 'Sleep well.'];
  expect(lastLine(script)).toMatchObject({ toSpeak: 3, characters: texts.join('').length });
  expect(script.stdout.toString()).toMatch(/line 6, column 1.*\n.*line 8, column 1.*\n.*line 12/);
  const check = await run('captions', '--check', 'a.vtt');
  expect(check.stdout.toString()).toMatch(/^a\.vtt: 3 cues, /m);
});

function lastLine({ stdout }: RunResult): unknown {
  return parseJsonLines(stdout.toString()).at(-1);
}
