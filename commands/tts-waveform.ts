import type { Context } from '../src/cli/context.ts';
import { Failure, usageFailure } from '../src/errors/failure.ts';
import type { OutputPlan } from '../src/speech/output-plan.ts';
import { measureFile } from './measure-file.ts';

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
    const { drawWaveform } = await import('../src/cli/waveform.ts');
    const columns = Number.isFinite(io.err.columns) ? io.err.columns : UNSEEN_COLUMNS;
    io.notice(drawWaveform(sound.levels.waveform(columns)));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    io.notice(`foley: its waveform cannot be drawn: ${error.message}`);
  }
}

const UNSEEN_COLUMNS = 80;
