import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect } from 'vitest';
import { requireTool } from '../../harness/require-tool.ts';

/** Decodes a whole file with ffmpeg, which must have nothing to say. Skips where it is missing. */
export async function decodesSilently(folder: string, bytes: Uint8Array): Promise<void> {
  const ffmpeg = requireTool('ffmpeg');
  const file = path.join(folder, 'decoded.mp4');
  await writeFile(file, bytes);
  // The muxer `null` would warn of the last block of Opus, to which the decoder of ffmpeg gives the time of the one before.
  const args = ['-v', 'warning', '-i', file, '-f', 'md5', '-'];
  const { stderr, exitCode } = await execa(ffmpeg, args, { reject: false });
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
}

/** When tones begin in the sound of a file as ffmpeg decodes it, in seconds. Skips where it is missing. */
export async function tonesIn(folder: string, bytes: Uint8Array): Promise<readonly number[]> {
  const ffmpeg = requireTool('ffmpeg');
  const file = path.join(folder, 'heard.mp4');
  await writeFile(file, bytes);
  const args = ['-v', 'error', '-i', file, '-ac', '1', '-ar', '48000', '-f', 's16le', '-'];
  const { stdout } = await execa(ffmpeg, args, { encoding: 'buffer' });
  return onsets(Buffer.from(stdout));
}

const RATE = 48_000;
const LOUD = 3_000;
/** Quiet for so long before it. */
const GAP = RATE / 4;

function onsets(samples: Buffer): readonly number[] {
  const found: number[] = [];
  let lastLoud = -GAP;
  for (let at = 0; at * 2 < samples.length; at += 1) {
    if (Math.abs(samples.readInt16LE(at * 2)) < LOUD) continue;
    if (at - lastLoud >= GAP) found.push(at / RATE);
    lastLoud = at;
  }
  return found;
}
