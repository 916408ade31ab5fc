import path from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

const TEXT =
  'The harbour was quiet that morning, and the fishing boats had not yet come home. A boy sat on the wall.';

/** A file, and how ffmpeg makes it of a wav file. */
const FILES: readonly (readonly [file: string, flags: string])[] = [
  ['lc.m4a', '-c:a aac'],
  ['stereo.m4a', '-ac 2 -ar 44100 -c:a aac -aac_pns 0'],
  ['lc.aac', '-c:a aac'],
  ['audiobook.m4b', '-c:a aac -f ipod'],
  ['opus.mp4', '-c:a libopus'],
  ['mp3.mp4', '-ar 44100 -c:a libmp3lame'],
  ['opus.webm', '-c:a libopus'],
  ['vorbis.webm', '-c:a libvorbis'],
  ['two-layers.mpeg', '-ar 44100 -c:a mp2 -f mpeg'],
  ['dvd.mpeg', '-ar 48000 -c:a mp2 -f vob'],
  ['layer-two.mpeg', '-c:a mp2 -f mp2'],
  ['a-law.wav', '-ar 8000 -c:a pcm_alaw'],
  ['mu-law.wav', '-ar 8000 -c:a pcm_mulaw'],
];

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await createSandbox();
  await runFoley(['tts', '--local', TEXT, '-o', 'talk.wav'], { sandbox });
});

async function convert(file: string, flags: string): Promise<void> {
  const args = ['-v', 'error', '-y', '-i', 'talk.wav', ...flags.split(' '), file];
  await execa(requireTool('ffmpeg'), args, { cwd: sandbox.out });
}

describe('inspect', () => {
  test.each(FILES)('hears %s as ffmpeg does', async (file, flags) => {
    await convert(file, flags);
    const meter = ['-hide_banner', '-nostats', '-i', file, '-af', 'ebur128=peak=sample'];
    const theirs = await execa(requireTool('ffmpeg'), [...meter, '-f', 'null', '-'], {
      cwd: sandbox.out,
    });
    const told = theirs.stderr.slice(theirs.stderr.lastIndexOf('Integrated loudness'));
    const { code, stdout } = await runFoley(['inspect', file, '--json'], { sandbox });
    expect(code).toBe(0);
    const { durationMs, loudnessLufs, peakDbfs } = Object(parseJsonDocument(stdout));
    expect(loudnessLufs).toBeCloseTo(Number(/I: +(-[\d.]+) LUFS/.exec(told)?.[1]), 0);
    expect(peakDbfs).toBeCloseTo(Number(/Peak: +(-[\d.]+) dBFS/.exec(told)?.[1]), 0);
    const decoded = ['-v', 'error', '-i', file, '-ac', '1', '-ar', '1000', '-f', 's8', '-'];
    const bytes = await execa(requireTool('ffmpeg'), decoded, {
      cwd: sandbox.out,
      encoding: 'buffer',
    });
    // Encoders add up to three frames, which not every file declares.
    expect(Math.abs(durationMs - bytes.stdout.length)).toBeLessThan(100);
  });
});

const RECORDINGS = new Set([
  'lc.m4a',
  'lc.aac',
  'opus.mp4',
  'vorbis.webm',
  'two-layers.mpeg',
  'mu-law.wav',
]);

test.each(FILES.filter(([file]) => RECORDINGS.has(file)))(
  'a voice is made from %s',
  async (file, flags) => {
    await convert(file, flags);
    const { code, stderr } = await runFoley(['voices', 'create', 'Ada', file], { sandbox });
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('created the voice "Ada"'),
    });
  },
);

test('Opus files that are joined end to end are read to the end of the last one', async () => {
  await convert('part.opus', '-c:a libopus');
  const joined = path.join(sandbox.out, 'joined.opus');
  await execa('cat part.opus part.opus part.opus > joined.opus', { cwd: sandbox.out, shell: true });
  const runs = await Promise.all(
    ['part.opus', joined].map((file) => runFoley(['inspect', file, '--json'], { sandbox })),
  );
  const [one, all] = runs.map(({ stdout }) => Number(Object(parseJsonDocument(stdout)).durationMs));
  // Each duration is rounded to a millisecond.
  expect(Math.abs((all ?? 0) - 3 * (one ?? 0))).toBeLessThan(3);
});
