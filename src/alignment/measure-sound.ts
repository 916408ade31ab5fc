import {
  detectSound,
  fileHead,
  decodePieces,
  UnusableAudioError,
  type DecodedSound,
  type DetectedSound,
  type OpenFile,
} from '../audio/decode.ts';
import { mixToMono } from '../audio/resample.ts';
import { SNIFF_BYTES_MAX, sniff } from '../audio/sniff.ts';
import type { WordSpan } from './align-words.ts';
import { type BandEnergies, BandMeter, SAMPLE_RATES } from './features.ts';

/** A decoded recording and its measured band energies. */
export interface MeasuredRecording {
  readonly energies: BandEnergies;
  readonly durationMs: number;
}

export interface RecordingOptions {
  /** Absolute path of the file, for ffmpeg. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/**
 * Decodes a recording and measures its energy in bands of the mel scale. Each second of audio needs 13 kB of memory.
 * m4a and mp4 files are decoded with ffmpeg.
 * @throws UnusableAudioError for a file that is not audio, is incomplete or cannot be decoded
 * @throws the signal's abort reason
 */
export async function measureRecording(
  file: OpenFile,
  { env, path, signal }: RecordingOptions,
): Promise<MeasuredRecording> {
  const kind = sniff(fileHead(file, SNIFF_BYTES_MAX));
  if (kind.kind === 'known' && (kind.format === 'm4a' || kind.format === 'mp4')) {
    return measureWithFfmpeg(path, env, signal);
  }
  const sound = detectSound(file);
  const measurement = new Measurement(sound.channels);
  for await (const piece of decodePieces(file, sound, signal)) measurement.add(piece);
  const recording = measurement.result();
  requireAllSound(recording.durationMs / 1000, sound);
  return recording;
}

// FLAC is the only format that is not checked for completeness before it is decoded.
function requireAllSound(seconds: number, { format, seconds: whole }: DetectedSound): void {
  if (format !== 'flac' || whole === undefined || seconds > whole - MISSING_SECONDS) return;
  const [found, wanted] = [seconds, whole].map((one) => one.toFixed(1));
  throw new UnusableAudioError(`is cut: it has ${found} of ${wanted} seconds`);
}

const MISSING_SECONDS = 0.1;

const FFMPEG_RATE = 16_000;
const FLOAT_BYTES = 4;
const LONGEST_PROBLEM = 300;

async function measureWithFfmpeg(
  path: string,
  env: RecordingOptions['env'],
  signal: AbortSignal,
): Promise<MeasuredRecording> {
  const { spawn } = await import('node:child_process');
  const input = [
    '-v',
    'error',
    '-nostdin',
    '-protocol_whitelist',
    'file,pipe',
    '-i',
    `file:${path}`,
  ];
  const output = ['-map', '0:a:0', '-ac', '1', '-ar', String(FFMPEG_RATE), '-f', 'f32le', 'pipe:1'];
  const child = spawn('ffmpeg', [...input, ...output], {
    env: { PATH: env['PATH'] },
    signal,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  let problem = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem = `${problem}${text}`.slice(0, LONGEST_PROBLEM);
  });
  const measurement = new Measurement(1);
  const read = async (): Promise<void> => {
    let rest = Buffer.alloc(0);
    for await (const chunk of child.stdout) {
      const bytes = Buffer.concat([rest, chunk]);
      const length = Math.floor(bytes.length / FLOAT_BYTES);
      const samples = Float32Array.from({ length }, (_, at) => bytes.readFloatLE(at * FLOAT_BYTES));
      measurement.add({ channels: [samples], sampleRate: FFMPEG_RATE });
      rest = Buffer.from(bytes.subarray(length * FLOAT_BYTES));
    }
  };
  const [code] = await Promise.all([ended, read()]).catch((error: unknown) => {
    signal.throwIfAborted();
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) throw error;
    throw new UnusableAudioError('is m4a, which needs ffmpeg: install it, or convert it to wav');
  });
  if (code !== 0) {
    throw new UnusableAudioError(`cannot be decoded by ffmpeg: ${problem.trim().split('\n')[0]}`);
  }
  return measurement.result();
}

class Measurement {
  readonly #declaredChannels: number | undefined;
  #meter: BandMeter | undefined;
  #sampleRate = 0;
  #samples = 0;

  constructor(declaredChannels: number | undefined) {
    this.#declaredChannels = declaredChannels;
  }

  add({ channels, sampleRate }: DecodedSound): void {
    const decoded = channels.slice(0, this.#declaredChannels);
    const length = decoded[0]?.length ?? 0;
    if (length === 0 || sampleRate === 0) return;
    if (this.#meter === undefined) {
      const { highest, lowest } = SAMPLE_RATES;
      if (sampleRate < lowest || sampleRate > highest) {
        const allowed = `use ${lowest} to ${highest}`;
        throw new UnusableAudioError(`has ${sampleRate} samples a second; ${allowed}`);
      }
      this.#meter = new BandMeter(sampleRate);
      this.#sampleRate = sampleRate;
    } else if (sampleRate !== this.#sampleRate) {
      throw new UnusableAudioError('changes its sample rate');
    }
    this.#samples += length;
    this.#meter.push(mixToMono(decoded));
  }

  result(): MeasuredRecording {
    if (this.#meter === undefined) throw new UnusableAudioError('has no sound');
    const durationMs = (this.#samples * 1000) / this.#sampleRate;
    return { energies: this.#meter.finish(), durationMs };
  }
}

/**
 * A word of the text and its time in the reference speech. The word begins at `start` and ends before `end` in the
 * text, counted in code points.
 */
export interface ReferenceWord extends WordSpan {
  readonly start: number;
  readonly end: number;
}

/** Speech made by an engine, with known word times, measured for comparison with a recording. */
export interface MeasuredReference {
  readonly energies: BandEnergies;
  readonly words: readonly ReferenceWord[];
}

interface SpokenChunk {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly words?: readonly ReferenceWord[];
}

/**
 * Measures the band energies of speech that an engine generates, and collects the times of its words.
 * @throws any error that reading `chunks` throws
 */
export async function measureReference(
  chunks: AsyncIterable<SpokenChunk>,
): Promise<MeasuredReference> {
  let meter: BandMeter | undefined;
  const words: ReferenceWord[] = [];
  for await (const chunk of chunks) {
    meter ??= new BandMeter(chunk.sampleRate);
    meter.push(chunk.samples);
    words.push(...(chunk.words ?? []));
  }
  const energies = meter?.finish() ?? { logs: new Float32Array(0), frames: 0, bands: 0 };
  return { energies, words };
}
