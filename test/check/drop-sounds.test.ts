import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { createFixture, speechRequests, VOICE } from '../binary/support/fixture.ts';

const SRT = `1
00:00:01,000 --> 00:00:02,000
[MUSIC]

2
00:00:02,000 --> 00:00:04,000
- (sighs) Who is there?
- ANN: (laughs)

3
00:00:04,000 --> 00:00:06,000
♪ la la la
la la ♪

4
00:00:06,000 --> 00:00:08,000
ANN: It is me (the neighbour). (laughs)
`;

async function sandboxWith(): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a.srt'), SRT);
  await writeFile(path.join(sandbox.out, 'a.md'), 'Hello [there](x).');
  return sandbox;
}

describe('--drop-sounds', () => {
  test('leaves sounds out of what tts and batch send', async () => {
    const fixture = await createFixture([]);
    await writeFile(path.join(fixture.sandbox.out, 'a.srt'), SRT);
    const flags = ['-v', VOICE, '--drop-sounds'];
    const spoken = 'Who is there? ANN: It is me (the neighbour).';
    const tts = await fixture.run(['tts', '-f', 'a.srt', ...flags, '-o', 'a.mp3']);
    expect(tts.code, tts.stderr).toBe(0);
    const sent = speechRequests(fixture).map(({ body }) => JSON.parse(body.toString()).text);
    expect(sent).toEqual([spoken]);
    const batch = await fixture.run([
      'batch',
      'a.srt',
      ...flags,
      '--output-dir',
      'x',
      '--dry-run',
      '--json',
    ]);
    expect(batch.code, batch.stderr).toBe(0);
    expect(batch.stdout.toString()).toContain(`"characters":${spoken.length}`);
  });

  test('leaves sounds out of the lines of a script', async () => {
    const sandbox = await sandboxWith();
    const args = ['script', 'a.srt', '-o', 'a.mp3', '-v', 'Martin', '--cast', 'ANN=Clara'];
    const flags = ['--local', '--dry-run', '--json'];
    const all = await runFoley([...args, ...flags], { sandbox });
    expect(all.stdout.toString()).toContain('"event":"plan","items":5');
    const spoken = await runFoley([...args, ...flags, '--drop-sounds'], { sandbox });
    expect(spoken.code, spoken.stderr).toBe(0);
    const lines = spoken.stdout.toString().matchAll(/"source":"(a\.srt, line \d+)/g);
    expect([...lines].map(([, source]) => source)).toEqual(['a.srt, line 7', 'a.srt, line 17']);
  });

  test.each([
    [['tts', 'hi']],
    [['tts', '-f', 'a.md']],
    [['text', '-f', 'a.md']],
    [['batch', 'a.md']],
    [['script', 'a.md', '-o', 'a.mp3', '-v', VOICE]],
  ])('is exit 2 with %j', async (args) => {
    const sandbox = await sandboxWith();
    const result = await runFoley([...args, '--drop-sounds', '--local'], { sandbox });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('--drop-sounds works with subtitles only');
  });
});
