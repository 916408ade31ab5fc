import { execa } from 'execa';
import { findOnPath, requireTool } from './require-tool.ts';

export interface Probe {
  /** ffprobe's names, such as `mp3` and `vorbis`. */
  readonly codec: string;
  readonly sampleRate: number;
  readonly durationMs: number;
}

/** What ffprobe makes of an audio file; it must not complain. Skips the test where it is missing. */
export async function probeWithFfprobe(file: string): Promise<Probe> {
  const ffprobe = requireTool('ffprobe');
  const entries = 'stream=codec_name,sample_rate:format=duration';
  const args = ['-v', 'error', '-show_entries', entries, '-of', 'default=noprint_wrappers=1'];
  const { stdout, stderr } = await execa(ffprobe, [...args, file]);
  if (stderr !== '') {
    throw new Error(`ffprobe complains:\n${stderr}`);
  }
  const fields = new Map(stdout.split('\n').map((line) => pair(line)));
  return {
    codec: fields.get('codec_name') ?? '',
    sampleRate: Number(fields.get('sample_rate')),
    durationMs: Number(fields.get('duration')) * 1000,
  };
}

/**
 * Lets ffmpeg decode a picture or a video to its end; it must not complain. Where it is missing nothing is checked, as
 * the decoders from npm always give the first opinion.
 */
export async function decodeWithFfmpeg(file: string): Promise<void> {
  const ffmpeg = findOnPath('ffmpeg');
  if (ffmpeg === undefined) return;
  const { stderr } = await execa(ffmpeg, ['-v', 'error', '-i', file, '-f', 'null', '-']);
  if (stderr !== '') throw new Error(`ffmpeg complains:\n${stderr}`);
}

/** Decodes an mp3 with mpg123 in test mode; it must not complain. Skips where it is missing. */
export async function checkWithMpg123(file: string): Promise<void> {
  const mpg123 = requireTool('mpg123');
  // Without -q, because it resynchronises after rubbish without changing its exit code.
  const { stderr } = await execa(mpg123, ['-t', file]);
  const complaints = stderr
    .split('\n')
    .filter((line) => /^(?:Note|Warning)\b|\berror\b/.test(line));
  if (complaints.length > 0) {
    throw new Error(`mpg123 complains:\n${complaints.join('\n')}`);
  }
}

function pair(line: string): [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, at), line.slice(at + 1)];
}
