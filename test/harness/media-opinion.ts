import { execa } from 'execa';
import { findOnPath } from './require-tool.ts';

/**
 * Lets ffmpeg decode a picture or a video to its end; it must not complain. A second opinion: where it is
 * missing nothing is checked, as the decoders from npm always give the first.
 */
export async function decodeWithFfmpeg(file: string): Promise<void> {
  const ffmpeg = findOnPath('ffmpeg');
  if (ffmpeg === undefined) return;
  const { stderr } = await execa(ffmpeg, ['-v', 'error', '-i', file, '-f', 'null', '-']);
  if (stderr !== '') throw new Error(`ffmpeg complains:\n${stderr}`);
}
