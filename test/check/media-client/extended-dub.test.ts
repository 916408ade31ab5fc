import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ALL_FORMATS, FilePathSource, Input } from 'mediabunny';
import { describe, expect, test } from 'vitest';
import { fixtureFile } from '../../binary/support/media-calls.ts';
import { createFixture, VOICE } from '../../binary/support/fixture.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';

const CLIP = 'h264.mp4';

async function withClip(): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'clip.mp4'), await fixtureFile(CLIP));
  return sandbox;
}

async function secondsOf({ out }: Sandbox, name: string): Promise<number> {
  const source = new FilePathSource(path.join(out, name));
  const input = new Input({ source, formats: ALL_FORMATS });
  try {
    return await input.computeDuration();
  } finally {
    input.dispose();
  }
}

function dub(sandbox: Sandbox, text: string, ...flags: readonly string[]) {
  const args = ['dub', 'create', text, '--video', 'clip.mp4', '-o', 'dubbed.mp4', '--json'];
  return runFoley([...args, '--local', ...flags], { sandbox, timeoutMs: 120_000 });
}

describe('foley dub create', () => {
  test('cuts a long video and says so', async () => {
    const sandbox = await withClip();
    const { code, stderr, stdout } = await dub(sandbox, 'Hello.');
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/the video of 10\.0 s is cut to the \d\.\d s of the speech; --extend/);
    expect(JSON.parse(stdout.toString())).toMatchObject({ cut: { part: 'video' } });
    expect(await secondsOf(sandbox, 'dubbed.mp4')).toBeLessThan(3);
  });

  test('--extend keeps the whole video', async () => {
    const sandbox = await withClip();
    const { code, stderr, stdout } = await dub(sandbox, 'Hello.', '--extend');
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('is cut');
    const whole = await secondsOf(sandbox, 'clip.mp4');
    expect(Math.abs((await secondsOf(sandbox, 'dubbed.mp4')) - whole)).toBeLessThan(0.15);
    expect(JSON.parse(stdout.toString())).toMatchObject({
      kind: 'lipsync',
      status: 'completed',
      cut: null,
      speech: { kind: 'tts', output: 'dubbed.speech.wav', creditsUsed: expect.any(Number) },
    });
  });

  test('--extend repeats the video until a long speech ends', async () => {
    const sandbox = await withClip();
    const long = 'This sentence is spoken again and again. '.repeat(8);
    const { code, stderr } = await dub(sandbox, long, '--extend');
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('is cut');
    const speech = await secondsOf(sandbox, 'dubbed.speech.wav');
    expect(speech).toBeGreaterThan(12);
    expect(Math.abs((await secondsOf(sandbox, 'dubbed.mp4')) - speech)).toBeLessThan(0.15);
  });
});

describe('foley dub create --extend sends nothing', () => {
  test.each([
    ['without an output', ['--video', 'clip.mp4'], '--extend requires -o FILE'],
    ['for a URL', ['--video', 'https://media.test/a.mp4', '-o', 'a.mp4'], 'requires a video file'],
    ['with --fit', ['--video', 'clip.mp4', '-o', 'a.mp4', '--fit'], '--fit'],
    ['without an upload command', ['--video', 'clip.mp4', '-o', 'a.mp4'], 'upload.command'],
    ['for a file that is no video', ['--video', 'text.mp4', '-o', 'a.mp4'], 'upload.command'],
  ])('%s', async (_name, flags, message) => {
    const fixture = await createFixture([]);
    await writeFile(path.join(fixture.sandbox.out, 'clip.mp4'), await fixtureFile(CLIP));
    await writeFile(path.join(fixture.sandbox.out, 'text.mp4'), 'no video');
    const { code, stderr } = await fixture.run([
      'dub',
      'create',
      'Hi.',
      '-v',
      VOICE,
      '--extend',
      ...flags,
    ]);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(message);
    expect(fixture.server.requests).toHaveLength(0);
  });

  test('for a file that is no video, with the embedded service', async () => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'clip.mp4'), 'no video');
    const { code, stderr } = await dub(sandbox, 'Hello.', '--extend');
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('cannot read the length of --video');
  });
});
