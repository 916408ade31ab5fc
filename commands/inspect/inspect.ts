import type { MeasuredSound } from '../../src/audio/measure.ts';
import { describeDuration } from '../../src/audio/verify.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { TerminalStyle } from '../../src/cli/render/style.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { measureFile } from '../../src/cli/render/waveform.ts';

/** `foley inspect FILE`: what a file of sound is and how it sounds. */
export const inspect: CommandDefinition = {
  configure(command) {
    command
      .description(
        'Decodes an audio file and prints its length, loudness, peaks and silence. ' +
          'Reads wav, mp3, flac, ogg and opus. Works offline.',
      )
      .argument('<file>', 'audio file')
      .addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [file = ''] }) {
    const { bytes, sound } = await measureFile(file, context);
    const { drawWaveform } = await import('../../src/cli/render/waveform.ts');
    const { renderFields } = await import('../../src/cli/render/table.ts');
    return resultOf(file, { bytes, sound }, (style) => {
      const columns = Number.isFinite(style.columns) ? style.columns : WAVEFORM_COLUMNS;
      return `${renderFields(fieldsOf(bytes, sound), style)}\n\n${drawWaveform(sound.levels.waveform(columns))}`;
    });
  },
};

const EXAMPLES = `
Examples:
  $ foley inspect hello.mp3
  $ foley inspect hello.mp3 --json`;

/** Waveform width without a terminal. */
const WAVEFORM_COLUMNS = 80;
/** How many levels `--json` has. */
const WAVEFORM_LEVELS = 200;
/** A shorter pause is part of speaking. */
const PAUSE_MS = 300;

interface Inspected {
  readonly bytes: number;
  readonly sound: MeasuredSound;
}

function resultOf(
  file: string,
  { bytes, sound }: Inspected,
  human: (style: TerminalStyle) => string,
): CommandResult {
  const { channels, codec, format, levels, loudness, sampleRate } = sound;
  return {
    data: {
      file,
      format,
      codec: codec ?? null,
      bytes,
      durationMs: Math.round(levels.durationMs),
      sampleRate,
      channels,
      bitrate: bitrate(bytes, sound),
      loudnessLufs: rounded(loudness),
      peakDbfs: rounded(decibels(levels.peak)),
      clippedSamples: levels.clipped,
      silence: silenceOf(sound),
      waveform: levels.waveform(WAVEFORM_LEVELS).map((level) => Math.round(level * 1000) / 1000),
    },
    human,
  };
}

function fieldsOf(bytes: number, sound: MeasuredSound): (readonly [string, string])[] {
  const { channels, codec, format, levels, loudness, sampleRate } = sound;
  const { endMs, longestMs, startMs, totalMs } = silenceOf(sound);
  const peak = rounded(decibels(levels.peak));
  const clipped = levels.clipped > 0 ? `, ${levels.clipped} samples clipped` : '';
  return [
    ['format', codec === undefined ? format : `${format} (${codec})`],
    ['duration', describeDuration(levels.durationMs)],
    ['sample rate', `${sampleRate} Hz, ${channels === 1 ? 'mono' : `${channels} channels`}`],
    ['bitrate', `${Math.round(bitrate(bytes, sound) / 1000)} kbit/s`],
    ['loudness', loudness === undefined ? 'silent, or too short' : `${rounded(loudness)} LUFS`],
    ['peak', peak === null ? 'silent' : `${peak} dBFS${clipped}`],
    [
      'silence',
      `${startMs} ms at the beginning, ${endMs} ms at the end; ${pausesIn(totalMs, longestMs)}`,
    ],
  ];
}

function pausesIn(totalMs: number, longestMs: number): string {
  if (totalMs === 0) return `no pause longer than ${PAUSE_MS} ms`;
  return `pauses of ${describeDuration(totalMs)} in all, the longest of ${describeDuration(longestMs)}`;
}

function silenceOf({ levels }: MeasuredSound): {
  readonly startMs: number;
  readonly endMs: number;
  readonly longestMs: number;
  readonly totalMs: number;
} {
  const all = levels.pauses(0);
  const [first] = all;
  const last = all.at(-1);
  const pauses = levels.pauses(PAUSE_MS).map(({ endMs, startMs }) => endMs - startMs);
  const isAtEnd = last !== undefined && last.endMs >= levels.durationMs - 1;
  return {
    startMs: first?.startMs === 0 ? Math.round(first.endMs) : 0,
    endMs: isAtEnd ? Math.round(last.endMs - last.startMs) : 0,
    longestMs: Math.round(Math.max(0, ...pauses)),
    totalMs: Math.round(pauses.reduce((sum, pause) => sum + pause, 0)),
  };
}

function bitrate(bytes: number, { levels }: MeasuredSound): number {
  return Math.round((bytes * 8 * 1000) / levels.durationMs);
}

function decibels(level: number): number | undefined {
  return level === 0 ? undefined : 20 * Math.log10(level);
}

function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 10) / 10;
}
