import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Sandbox } from '../../harness/sandbox.ts';
import { writeWav } from '../../harness/wav.ts';

/** The most that a recording may have, which is written once more here. */
export const TEN_MEGABYTES = 10_485_760;

const RATE = 16_000;

/** A second of a tone as wav. */
export function tone(hertz = 220): Buffer {
  const samples = Float32Array.from(
    { length: RATE },
    (_, index) => 0.5 * Math.sin((2 * Math.PI * hertz * index) / RATE),
  );
  return writeWav(samples, RATE);
}

/** A recording of speech by a built-in voice: a voice cannot be made of a tone. */
export function speechRecording(text = 'This is what I sound like.', format = 'wav'): Buffer {
  const home = mkdtempSync(path.join(tmpdir(), 'foley-recording-'));
  const file = path.join(home, `recording.${format}`);
  const args = ['bin/foley.cjs', 'tts', text, '--local', '-o', file];
  try {
    execFileSync(process.execPath, args, {
      env: { PATH: process.env['PATH'], HOME: home, FOLEY_KEEP_ALIVE: '0' },
      stdio: 'ignore',
    });
    return readFileSync(file);
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** Puts a recording where commands run. */
export async function putRecording(
  { out }: Sandbox,
  name: string,
  content: Uint8Array | string = tone(),
): Promise<void> {
  await writeFile(path.join(out, name), content);
}

/** A wav of so many bytes, mostly silence, which takes no room on most disks. */
export async function putLargeWav(
  { out }: Sandbox,
  name: string,
  bytes = TEN_MEGABYTES,
): Promise<void> {
  const head = tone();
  head.writeUInt32LE(bytes - 8, 4);
  head.writeUInt32LE(bytes - 44, 40);
  const file = await open(path.join(out, name), 'w');
  await file.write(head);
  await file.truncate(bytes);
  await file.close();
}
