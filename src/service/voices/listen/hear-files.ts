import { SoundProblem, filePieces, recogniseSound } from '../../../audio/decode.ts';
import type { OpenFile, DecodedSound } from '../../../audio/decode.ts';
import { REFERENCE_SECONDS_RANGE } from '../../../contract/limits.ts';
import type { HeardFiles } from './listening-thread.ts';
import { AUDIBLE, PitchMeter } from './pitch-meter.ts';

/** Decodes and checks reference audio, and measures its pitch. */
export async function hearFiles(files: readonly OpenFile[]): Promise<HeardFiles> {
  const meter = new PitchMeter();
  let index = 0;
  try {
    for (const file of files) {
      await listenToFile(file, meter);
      index += 1;
    }
    return { kind: 'heard', medianHz: meter.median() };
  } catch (error) {
    if (!(error instanceof SoundProblem)) throw error;
    return { kind: 'refused', index, problem: error.message };
  } finally {
    meter.close();
  }
}

/** Less of what a file says that it holds cannot be decoded when it is damaged. */
const LEAST_SHARE = 0.9;

/**
 * Decodes a file and measures it.
 * @throws SoundProblem when it is no sound, damaged, too short, too long, or silent
 */
async function listenToFile(file: OpenFile, meter: PitchMeter): Promise<void> {
  const sound = recogniseSound(file);
  requireLength(sound.seconds, 'says that it is');
  const decoder = await sound.open();
  const ear = new Ear(meter);
  try {
    const bytes = filePieces({ fd: file.fd, size: sound.end }, decoder.pieceBytes, sound.start);
    for (const piece of bytes) await ear.hear(await decoded(decoder.decode(piece)));
    await ear.hear(await decoded(decoder.finish()));
  } finally {
    decoder.close();
  }
  if (ear.seconds === 0) throw new SoundProblem('holds no sound');
  if (sound.seconds !== undefined && ear.seconds < sound.seconds * LEAST_SHARE) {
    const found = `only ${shown(ear.seconds)} of ${shown(sound.seconds)} can be decoded`;
    throw new SoundProblem(`is damaged or cut: ${found}`);
  }
  requireLength(ear.seconds, 'is');
  if (!ear.isAudible) throw new SoundProblem('is silent');
}

/** What a decoder cannot make sense of is the file's fault. */
async function decoded(sound: Promise<DecodedSound>): Promise<DecodedSound> {
  return sound.catch(() => {
    throw new SoundProblem('is damaged: it cannot be decoded');
  });
}

function requireLength(seconds: number | undefined, what: string): void {
  const { minimum, maximum } = REFERENCE_SECONDS_RANGE;
  if (seconds === undefined || (seconds >= minimum && seconds <= maximum)) return;
  const allowed = `allowed are ${minimum} to ${maximum} seconds`;
  throw new SoundProblem(`${what} ${shown(seconds)} long; ${allowed}`);
}

/** What brings sound to another rate needs the more memory, the further apart the two are. */
function requireRate(sampleRate: number): void {
  const { lowest, highest } = RATES;
  if (sampleRate >= lowest && sampleRate <= highest) return;
  const allowed = `allowed are ${lowest} to ${highest}`;
  throw new SoundProblem(`has ${sampleRate} samples a second; ${allowed}`);
}

const RATES = { lowest: 4_000, highest: 384_000 } as const;

function shown(seconds: number): string {
  return `${Math.round(seconds * 10) / 10} s`;
}

/** Mixes what is decoded to one channel, counts it and hands it to the meter. */
class Ear {
  readonly #meter: PitchMeter;
  #sampleRate = 0;
  #samples = 0;
  #loudest = 0;

  constructor(meter: PitchMeter) {
    this.#meter = meter;
  }

  get seconds(): number {
    return this.#sampleRate === 0 ? 0 : this.#samples / this.#sampleRate;
  }

  /** Whether anything in this file was louder than -60 dB of full scale. */
  get isAudible(): boolean {
    return this.#loudest > AUDIBLE;
  }

  /** @throws SoundProblem as soon as it turns out to be too long, or to change its rate */
  async hear({ channels, sampleRate }: DecodedSound): Promise<void> {
    const [first] = channels;
    if (first === undefined || first.length === 0 || sampleRate === 0) return;
    requireRate(sampleRate);
    if (this.#sampleRate !== 0 && this.#sampleRate !== sampleRate) {
      throw new SoundProblem('changes its sample rate on the way');
    }
    this.#sampleRate = sampleRate;
    this.#samples += first.length;
    if (this.seconds > REFERENCE_SECONDS_RANGE.maximum) requireLength(this.seconds, 'is more than');
    const mono = mixed(channels, first.length);
    for (const sample of mono) this.#loudest = Math.max(this.#loudest, Math.abs(sample));
    await this.#meter.add(mono, sampleRate);
  }
}

/** The mean of the channels; what is no number, as floating point files may hold, is silence. */
function mixed(channels: readonly Float32Array[], length: number): Float32Array {
  const mono = new Float32Array(length);
  for (let index = 0; index < length; index += 1) {
    let sum = 0;
    for (const channel of channels) sum += channel[index] ?? 0;
    const mean = sum / channels.length;
    mono[index] = Number.isFinite(mean) ? mean : 0;
  }
  return mono;
}
