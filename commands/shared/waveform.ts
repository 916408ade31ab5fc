import type { MeasuredSound } from '../../src/audio/measure.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { Context } from '../../src/cli/command.ts';
import { useAudioFile } from '../../src/cli/read-input.ts';
import type { TerminalStyle } from '../../src/cli/render/style.ts';

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

const LOWEST_BAR_DB = -48;

const DEFAULT_COLUMNS = 80;

/** Draws audio levels as a line of bars. The bar heights follow a decibel scale. */
export function drawWaveform(levels: MeasuredSound['levels'], { columns }: TerminalStyle): string {
  return levels
    .waveform(Number.isFinite(columns) ? columns : DEFAULT_COLUMNS)
    .map((level) => {
      const share = 1 - (20 * Math.log10(Math.max(level, Number.MIN_VALUE))) / LOWEST_BAR_DB;
      const bar = Math.round(Math.min(1, Math.max(0, share)) * (BARS.length - 1));
      return BARS[bar] ?? BARS[0];
    })
    .join('');
}

/** Prints the waveform of a saved file on stderr. If that fails, prints a notice. */
export async function showWaveform(file: string, context: Context): Promise<void> {
  const { io } = context;
  try {
    const { sound } = await measureFile(file, context);
    io.notice(drawWaveform(sound.levels, io.err));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    io.notice(`foley: cannot draw the waveform: ${error.message}`);
  }
}

/**
 * Decodes an audio file and measures its loudness and levels.
 * @throws Failure of kind `usage` if the file cannot be read or decoded
 */
export async function measureFile(
  given: string,
  context: Context,
): Promise<{ readonly bytes: number; readonly sound: MeasuredSound }> {
  const { measureSound } = await import('../../src/audio/measure.ts');
  return useAudioFile(given, context, async (file) => {
    return { bytes: file.size, sound: await measureSound(file, context.signal) };
  });
}
