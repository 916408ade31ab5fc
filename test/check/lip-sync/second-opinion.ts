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
