import type { MeasuredSound } from '../../src/audio/measure.ts';
import { describeDuration } from '../../src/audio/verify.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { measureFile } from '../shared/waveform.ts';

/** Measurements of an audio file. */
export interface InspectDocument {
  readonly file: string;
  /** Format of the file, such as `mp3`. */
  readonly format: string;
  readonly codec: string | null;
  readonly bytes: number;
  readonly durationMs: number;
  readonly sampleRate: number;
  readonly channels: number;
  /** Bits per second. */
  readonly bitrate: number;
  /** Integrated loudness (EBU R 128); null for silence and for audio that is too short. */
  readonly loudnessLufs: number | null;
  readonly peakDbfs: number | null;
  readonly clippedSamples: number;
  /** Milliseconds of silence at the ends, and of the pauses. */
  readonly silence: {
    readonly startMs: number;
    readonly endMs: number;
    readonly longestMs: number;
    readonly totalMs: number;
  };
  /** Peaks of equal parts of the sound, from 0 to 1. */
  readonly waveform: readonly number[];
}

export const definition: CommandDefinition<object, InspectDocument> = {
  configure(command) {
    command
      .description(
        'Decodes an audio file and prints its length, loudness, peaks and silence. ' +
          'Reads wav, mp3, flac, ogg, opus, m4a, mp4, aac, webm and mpeg, and the sound of videos. ' +
          'Works offline.',
      )
      .argument('<file>', 'audio file')
      .addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [file = ''] }) {
    const { bytes, sound } = await measureFile(file, context);
    const { drawWaveform } = await import('../shared/waveform.ts');
    const { renderFields } = await import('../../src/cli/render/table.ts');
    return {
      data: documentOf(file, bytes, sound),
      human: (style) =>
        `${renderFields(fieldsOf(bytes, sound), style)}\n\n${drawWaveform(sound.levels, style)}`,
    };
  },
};

const EXAMPLES = `
Examples:
  $ foley inspect hello.mp3
  $ foley inspect hello.mp3 --json`;

const WAVEFORM_LEVELS = 200;
// Shorter pauses are a part of speech.
const PAUSE_MS = 300;

function documentOf(file: string, bytes: number, sound: MeasuredSound): InspectDocument {
  const { channels, codec, format, levels, loudness, sampleRate } = sound;
  return {
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
  };
}

function fieldsOf(bytes: number, sound: MeasuredSound): (readonly [string, string])[] {
  const { channels, codec, format, levels, loudness, sampleRate } = sound;
  const { endMs, longestMs, startMs, totalMs } = silenceOf(sound);
  const peak = rounded(decibels(levels.peak));
  const clipped = levels.clipped > 0 ? `, ${levels.clipped} samples clipped` : '';
  const pauses =
    totalMs === 0
      ? `no pause longer than ${PAUSE_MS} ms`
      : `pauses of ${describeDuration(totalMs)} in all, the longest of ${describeDuration(longestMs)}`;
  return [
    ['format', codec === undefined ? format : `${format} (${codec})`],
    ['duration', describeDuration(levels.durationMs)],
    ['sample rate', `${sampleRate} Hz, ${channels === 1 ? 'mono' : `${channels} channels`}`],
    ['bitrate', `${Math.round(bitrate(bytes, sound) / 1000)} kbit/s`],
    ['loudness', loudness === undefined ? 'silent, or too short' : `${rounded(loudness)} LUFS`],
    ['peak', peak === null ? 'silent' : `${peak} dBFS${clipped}`],
    ['silence', `${startMs} ms at the beginning, ${endMs} ms at the end; ${pauses}`],
  ];
}

function silenceOf({ levels }: MeasuredSound): InspectDocument['silence'] {
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
