import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../harness/sandbox.ts';
import { sandbox } from '../../harness/sandbox.ts';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import { tone } from '../../binary/voices/recordings.ts';
import { everyNth } from '../../binary/voices/voice-scene.ts';
import { leftIn } from '../../binary/media-client/media-scene.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

function foley(box: Sandbox, ...args: string[]): Promise<RunResult> {
  return runFoley([...args, '--local'], { box, timeoutMs: 110_000 });
}

async function good(box: Sandbox, ...args: string[]): Promise<RunResult> {
  const result = await foley(box, ...args);
  expect(result.code, result.stderr).toBe(0);
  return result;
}

async function document(box: Sandbox, ...args: string[]): Promise<ReturnType<typeof Object>> {
  return JSON.parse((await good(box, ...args, '--json')).stdout.toString());
}

function file(box: Sandbox, name: string): Promise<Buffer> {
  return readFile(path.join(box.out, name));
}

async function plain(box: Sandbox, name: string, background: string): Promise<void> {
  const picture = sharp({ create: { width: 64, height: 64, channels: 3, background } });
  await writeFile(path.join(box.out, name), await picture.png().toBuffer());
}

test('images have the format of their extension, use local files, and can be downloaded again', async () => {
  const box = await sandbox();
  for (const [index, color] of ['red', 'lime', 'blue', 'gray'].entries()) {
    await plain(box, `${index}.png`, color);
  }
  const references = [0, 1, 2, 3].flatMap((index) => ['--image', `${index}.png`]);
  const order = ['image', 'create', 'A lighthouse', '-m', 'altH-image-2', '--max-credits', '60'];
  const flags = ['--aspect-ratio', '3:2', ...references, '-o', 'a.jpg'];
  const made = await document(box, ...order, ...flags);
  expect(made).toMatchObject({ status: 'completed', output: 'a.jpg', target: 'embedded' });
  expect(made.raw.data.reference_count).toBe(4);
  const { format, width, height } = await sharp(await file(box, 'a.jpg')).metadata();
  expect([format, width, height]).toEqual(['jpeg', 1_024, 682]);

  const again = await good(box, 'image', 'download', made.id);
  expect(again.stdout.toString()).toBe(`${made.id}.jpg\n`);
  expect((await file(box, `${made.id}.jpg`)).equals(await file(box, 'a.jpg'))).toBe(true);
  expect((await leftIn(box)).filter((name) => /TEMPORARY|journal|spool/.test(name))).toEqual([]);
}, 120_000);

test('a dubbing whose speech was billed continues with the printed command', async () => {
  const box = await sandbox();
  const clip = ['video', 'create', 'Waves', '-m', 'vendor-video-1-flash', '--seconds', '2'];
  await good(box, ...clip, '--size', '640x360', '-o', 'the clip.mp4');
  const dub = ['dub', 'create', 'One.', '--video', 'the clip.mp4', '--fit', '-o', 'a.mp4'];
  const error = errorLine(await foley(box, ...dub, '--json'));
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

  const synced = await good(box, ...words, '-o', 'a.mp4');
  expect(synced.stderr).toMatch(/billed as 1 s \(audio rounded up; video 2 s, audio 0\.\d+ s\)/);
  expect(verifyBytes('mp4', await file(box, 'a.mp4')).complete).toBe(true);
  const id = synced.stdout.toString().trim();
  const all = await document(box, 'lipsync', 'list', '--all');
  expect(all).toMatchObject({ total: 1, items: [{ id, status: 'completed' }] });
  const several = await foley(box, 'lipsync', 'wait', id, 'no-such-job', '-o', 'all');
  expect(several.code).toBe(20);
  expect(await readdir(path.join(box.out, 'all'))).toEqual([`${id}.mp4`]);
}, 120_000);

test.each(everyNth(2, ['wait', 'save']))(
  'a dubbing reports the cost of its parts: %s',
  async (way) => {
    const box = await sandbox();
    const clip = ['video', 'create', 'Waves', '-m', 'vendor-video-1-flash', '--seconds', '2'];
    await good(box, ...clip, '--size', '640x360', '-o', 'clip.mp4');
    const dub = ['dub', 'create', 'Good evening to you all.', '--video', 'clip.mp4', '--fit'];
    const end = way === 'wait' ? ['--wait'] : ['-o', 'dubbed.mp4'];
    const dubbed = await document(box, ...dub, ...end);
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
  const box = await sandbox();
  await writeFile(path.join(box.out, 'clip.mp4'), 'This is no video.');
  await writeFile(path.join(box.out, 'a.wav'), tone());
  const inputs = ['--video', 'clip.mp4', '--audio', 'a.wav'];
  const error = errorLine(await foley(box, 'lipsync', 'create', ...inputs, '--json'));
  expect(error).toMatchObject({ exitCode: 20, billed: 'no', details: { media_kind: 'video' } });
}, 120_000);
