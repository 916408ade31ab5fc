import path from 'node:path';
import type { MeasuredSound } from '../../audio/measure.ts';
import { findRegularFile } from '../../durable/regular-file.ts';
import { Failure, usageFailure } from '../../errors/failure.ts';
import type { Context } from '../command.ts';

/** From nothing to full scale. */
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** The quietest level that rises above the lowest bar, in decibels below full scale. */
const FLOOR_DB = -48;

/** A line of bars, one for each level from 0 to 1; as high as it sounds, which is logarithmic. */
export function drawWaveform(levels: readonly number[]): string {
  return levels
    .map((level) => {
      const share = 1 - (20 * Math.log10(Math.max(level, Number.MIN_VALUE))) / FLOOR_DB;
      const bar = Math.round(Math.min(1, Math.max(0, share)) * (BARS.length - 1));
      return BARS[bar] ?? BARS[0];
    })
    .join('');
}

/** Draws the sound of a file for a person. It is there already, so that nothing fails by this. */
export async function showWaveform(file: string, context: Context): Promise<void> {
  const { io } = context;
  try {
    const { sound } = await measureFile(file, context);
    const columns = Number.isFinite(io.err.columns) ? io.err.columns : UNSEEN_COLUMNS;
    io.notice(drawWaveform(sound.levels.waveform(columns)));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    io.notice(`foley: cannot draw the waveform: ${error.message}`);
  }
}

const UNSEEN_COLUMNS = 80;

/**
 * Decodes and measures a file.
 * @throws Failure (usage) when it cannot be read, or holds no sound that is known here
 */
export async function measureFile(
  given: string,
  { cwd, files, signal }: Pick<Context, 'cwd' | 'files' | 'signal'>,
): Promise<{ readonly bytes: number; readonly sound: MeasuredSound }> {
  const file = path.resolve(cwd(), given);
  const found = await findRegularFile(file, given, files);
  if (found === undefined) throw usageFailure(`${given} is not a regular file`);
  const { measureSound } = await import('../../audio/measure.ts');
  const { SoundProblem } = await import('../../audio/decode.ts');
  const handle = await files.open(file, 'r');
  try {
    const sound = await measureSound({ fd: handle.fd, size: found.byteLength }, signal);
    return { bytes: found.byteLength, sound };
  } catch (error) {
    if (error instanceof SoundProblem) throw usageFailure(`${given} ${error.message}`);
    throw error;
  } finally {
    await handle.close();
  }
}
