import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import { tone } from '../../binary/voices/recordings.ts';
import { everyNth } from '../../binary/voices/voice-fixture.ts';
import { leftIn } from '../../binary/media-client/media-fixture.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

function foley(sandbox: Sandbox, ...args: string[]): Promise<RunResult> {
  return runFoley([...args, '--local'], { sandbox, timeoutMs: 110_000 });
}

async function good(sandbox: Sandbox, ...args: string[]): Promise<RunResult> {
  const result = await foley(sandbox, ...args);
  expect(result.code, result.stderr).toBe(0);
  return result;
}

async function document(sandbox: Sandbox, ...args: string[]): Promise<ReturnType<typeof Object>> {
  return JSON.parse((await good(sandbox, ...args, '--json')).stdout.toString());
}

function file(sandbox: Sandbox, name: string): Promise<Buffer> {
  return readFile(path.join(sandbox.out, name));
}

async function plain(sandbox: Sandbox, name: string, background: string): Promise<void> {
  const picture = sharp({ create: { width: 64, height: 64, channels: 3, background } });
  await writeFile(path.join(sandbox.out, name), await picture.png().toBuffer());
}

test('images have the format of their extension, use local files, and can be downloaded again', async () => {
  const sandbox = await createSandbox();
  for (const [index, color] of ['red', 'lime', 'blue', 'gray'].entries()) {
    await plain(sandbox, `${index}.png`, color);
  }
  const references = [0, 1, 2, 3].flatMap((index) => ['--image', `${index}.png`]);
  const order = ['image', 'create', 'A lighthouse', '-m', 'altH-image-2', '--max-credits', '60'];
  const flags = ['--aspect-ratio', '3:2', ...references, '-o', 'a.jpg'];
  const made = await document(sandbox, ...order, ...flags);
  expect(made).toMatchObject({ status: 'completed', output: 'a.jpg', target: 'embedded' });
  expect(made.raw.data.reference_count).toBe(4);
  const { format, width, height } = await sharp(await file(sandbox, 'a.jpg')).metadata();
  expect([format, width, height]).toEqual(['jpeg', 1_024, 682]);

  const again = await good(sandbox, 'image', 'download', made.id);
  expect(again.stdout.toString()).toBe(`${made.id}.jpg\n`);
  expect((await file(sandbox, `${made.id}.jpg`)).equals(await file(sandbox, 'a.jpg'))).toBe(true);
  expect((await leftIn(sandbox)).filter((name) => /TEMPORARY|journal|spool/.test(name))).toEqual(
    [],
  );
}, 120_000);

test('a dubbing whose speech was billed continues with the printed command', async () => {
  const sandbox = await createSandbox();
  const clip = ['video', 'create', 'Waves', '-m', 'vendor-video-1-flash', '--seconds', '2'];
  await good(sandbox, ...clip, '--size', '640x360', '-o', 'the clip.mp4');
  const dub = ['dub', 'create', 'One.', '--video', 'the clip.mp4', '--fit', '-o', 'a.mp4'];
  const error = errorLine(await foley(sandbox, ...dub, '--json'));
  expect(error).toMatchObject({
    exitCode: 20,
    code: 'ERR_DUBBING_FIT_IMPOSSIBLE',
    billed: 'yes',
    details: { tts_credits_used: expect.any(Number) },
  });
  const [, kept = ''] = /is saved in (.+\.wav)$/.exec(error.message) ?? [];
  expect(verifyBytes('wav', await readFile(kept)).complete).toBe(true);
  const words = ['lipsync', 'create', '--video', 'the clip.mp4', '--audio', kept, '--extend'];
  const quoted = words.map((word) => (word.includes(' ') ? `'${word}'` : word)).join(' ');
  expect(error.hint).toContain(`\`foley ${quoted} -o a.mp4 --local\` to continue`);

  const synced = await good(sandbox, ...words, '-o', 'a.mp4');
  expect(synced.stderr).toMatch(/billed as 1 s \(audio rounded up; video 2 s, audio 0\.\d+ s\)/);
  expect(verifyBytes('mp4', await file(sandbox, 'a.mp4')).complete).toBe(true);
  const id = synced.stdout.toString().trim();
  const all = await document(sandbox, 'lipsync', 'list', '--all');
  expect(all).toMatchObject({ total: 1, items: [{ id, status: 'completed' }] });
  const several = await foley(sandbox, 'lipsync', 'wait', id, 'no-such-job', '-o', 'all');
  expect(several.code).toBe(20);
  expect(await readdir(path.join(sandbox.out, 'all'))).toEqual([`${id}.mp4`]);
}, 120_000);

test.each(everyNth(2, ['wait', 'save']))(
  'a dubbing reports the cost of its parts: %s',
  async (way) => {
    const sandbox = await createSandbox();
    const clip = ['video', 'create', 'Waves', '-m', 'vendor-video-1-flash', '--seconds', '2'];
    await good(sandbox, ...clip, '--size', '640x360', '-o', 'clip.mp4');
    const dub = ['dub', 'create', 'Good evening to you all.', '--video', 'clip.mp4', '--fit'];
    const end = way === 'wait' ? ['--wait'] : ['-o', 'dubbed.mp4'];
    const dubbed = await document(sandbox, ...dub, ...end);
    const { lip_sync, total, tts } = dubbed.raw.data.credits_used;
    expect([dubbed.status, lip_sync + tts, dubbed.creditsUsed]).toEqual([
      'completed',
      total,
      total,
    ]);
  },
  120_000,
);

test('files that are not videos are refused, and nothing is billed', async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'clip.mp4'), 'This is no video.');
  await writeFile(path.join(sandbox.out, 'a.wav'), tone());
  const inputs = ['--video', 'clip.mp4', '--audio', 'a.wav'];
  const error = errorLine(await foley(sandbox, 'lipsync', 'create', ...inputs, '--json'));
  expect(error).toMatchObject({ exitCode: 20, billed: 'no', details: { media_kind: 'video' } });
}, 120_000);
