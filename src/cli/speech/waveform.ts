import path from 'node:path';
import type { MeasuredSound } from '../../audio/measure.ts';
import { findRegularFile } from '../../durable/regular-file.ts';
import { Failure, usageFailure } from '../../errors/failure.ts';
import type { OutputPlan } from '../../speech/output-plan.ts';
import type { Context } from '../command.ts';

/**
 * Checks that there will be a file to draw.
 * @throws Failure (usage)
 */
export function checkWaveform({ waveform }: { readonly waveform?: true }, plan: OutputPlan): void {
  if (waveform !== true) return;
  if (plan.format === 'pcm') {
    throw usageFailure('--waveform cannot draw pcm', 'Ask for mp3, wav or ogg with --format.');
  }
  if (plan.kind === 'stdout' || plan.kind === 'player') {
    throw usageFailure('--waveform draws a file', 'Name one with -o.');
  }
}

/** Draws the sound of a file for a person. It is there already, so that nothing fails by this. */
export async function showWaveform(file: string, context: Context): Promise<void> {
  const { io } = context;
  try {
    const { sound } = await measureFile(file, context);
    const { drawWaveform } = await import('../render/waveform.ts');
    const columns = Number.isFinite(io.err.columns) ? io.err.columns : UNSEEN_COLUMNS;
    io.notice(drawWaveform(sound.levels.waveform(columns)));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    io.notice(`foley: its waveform cannot be drawn: ${error.message}`);
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
  if (found === undefined) throw usageFailure(`${given} is no regular file`);
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
