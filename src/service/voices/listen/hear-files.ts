import { detectSound } from '../../../audio/decode.ts';
import { mixToMono } from '../../../audio/resample.ts';
import type { DecodedSound, OpenFile } from '../../../audio/sound.ts';
import { UnusableAudioError } from '../../../audio/sound.ts';
import { REFERENCE_SECONDS_RANGE } from '../../../contract/limits.ts';
import type { HeardRecordings } from './listening-thread.ts';
import { AUDIBLE, PitchMeter } from './pitch-meter.ts';

/** Decodes and checks reference audio, and measures the voice in it. */
export async function hearFiles(files: readonly OpenFile[]): Promise<HeardRecordings> {
  const meter = new PitchMeter();
  let index = 0;
  try {
    for (const file of files) {
      await measureFile(file, meter);
      index += 1;
    }
    return { kind: 'heard', voice: meter.isSpeech() ? meter.voice() : undefined };
  } catch (error) {
    if (!(error instanceof UnusableAudioError)) throw error;
    return { kind: 'refused', index, problem: error.message };
  } finally {
    meter.close();
  }
}

const LEAST_SHARE = 0.9;
const SAMPLE_RATES = { lowest: 4_000, highest: 384_000 } as const;

async function measureFile(file: OpenFile, meter: PitchMeter): Promise<void> {
  // The thread ends when the caller no longer needs the result.
  const { signal } = new AbortController();
  const sound = await detectSound(file, signal);
  requireLength(sound.seconds, 'claims to be');
  let rate = 0;
  let samples = 0;
  let loudest = 0;
  for await (const { channels, sampleRate } of decodable(sound.decode(signal))) {
    const length = channels[0]?.length ?? 0;
    if (length === 0 || sampleRate === 0) continue;
    requireRate(sampleRate);
    if (rate !== 0 && rate !== sampleRate) throw new UnusableAudioError('changes its sample rate');
    rate = sampleRate;
    samples += length;
    if (samples / rate > REFERENCE_SECONDS_RANGE.maximum) {
      requireLength(samples / rate, 'is more than');
    }
    const mono = mixToMono(channels);
    for (const sample of mono) loudest = Math.max(loudest, Math.abs(sample));
    await meter.add(mono, sampleRate);
  }
  if (samples === 0) throw new UnusableAudioError('holds no sound');
  const seconds = samples / rate;
  if (sound.seconds !== undefined && seconds < sound.seconds * LEAST_SHARE) {
    const found = `only ${formatSeconds(seconds)} of ${formatSeconds(sound.seconds)} can be decoded`;
    throw new UnusableAudioError(`is damaged or cut: ${found}`);
  }
  requireLength(seconds, 'is');
  if (loudest <= AUDIBLE) throw new UnusableAudioError('is silent');
}

async function* decodable(sounds: AsyncIterable<DecodedSound>): AsyncGenerator<DecodedSound> {
  try {
    yield* sounds;
  } catch (error) {
    if (error instanceof UnusableAudioError) throw error;
    throw new UnusableAudioError('is damaged: it cannot be decoded');
  }
}

function requireLength(seconds: number | undefined, verb: string): void {
  const { minimum, maximum } = REFERENCE_SECONDS_RANGE;
  if (seconds === undefined || (seconds >= minimum && seconds <= maximum)) return;
  const allowed = `allowed: ${minimum} to ${maximum} seconds`;
  throw new UnusableAudioError(`${verb} ${formatSeconds(seconds)} long; ${allowed}`);
}

function requireRate(sampleRate: number): void {
  // The resampler's memory grows with the ratio of the sample rates.
  const { lowest, highest } = SAMPLE_RATES;
  if (sampleRate >= lowest && sampleRate <= highest) return;
  const allowed = `allowed: ${lowest} to ${highest}`;
  throw new UnusableAudioError(`has ${sampleRate} samples a second; ${allowed}`);
}

function formatSeconds(seconds: number): string {
  return `${Math.round(seconds * 10) / 10} s`;
}
