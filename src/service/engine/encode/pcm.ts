/** The rate that clients of the third-party speech interfaces take raw samples to have. */
export const PCM_SAMPLE_RATE = 24_000;

/** Raw samples of 16 bits, little-endian, mono, without a header; samples must come at 24 kHz. */
export function createPcmEncoder(): AudioEncoder {
  return { encode: pcmBytes, finish: () => new Uint8Array(0), close: () => {} };
}

/** Samples in -1..1 as 16 bits each, little-endian. */
export function pcmBytes(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(samples.length * BYTES_PER_SAMPLE);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < samples.length; index += 1) {
    const level = Math.min(1, Math.max(-1, samples[index] ?? 0));
    view.setInt16(index * BYTES_PER_SAMPLE, Math.round(level * 0x7fff), true);
  }
  return bytes;
}

/** Of a sample of 16 bits. */
export const BYTES_PER_SAMPLE = 2;

/** Bytes before the samples. */
export const WAV_HEADER_LENGTH = 44;

/**
 * The length that a stream claims when its end is not known: the largest even one with which every
 * field is a positive signed 32-bit number. Players that read a stream go on to its end: a length of
 * 0 makes some stop at once, and 0xFFFFFFFF is -1 to others. A file with it must be mended
 * when it is complete, with the header for its true length.
 */
const UNKNOWN_DATA_LENGTH = 0x7fff_ffff - (WAV_HEADER_LENGTH - 8) - 1;

/** The most samples that the 32-bit fields of the format can count. */
const MOST_SAMPLES = Math.floor((0xffff_ffff - (WAV_HEADER_LENGTH - 8)) / BYTES_PER_SAMPLE);

/**
 * The 44 bytes before mono samples of 16 bits.
 *
 * @throws RangeError when the format cannot count so many samples
 */
export function wavHeader({ sampleRate, totalSamples }: EncoderInput): Uint8Array<ArrayBuffer> {
  if (totalSamples !== undefined && totalSamples > MOST_SAMPLES) {
    throw new RangeError(`A WAV file has at most ${MOST_SAMPLES} samples, not ${totalSamples}.`);
  }
  const dataLength =
    totalSamples === undefined ? UNKNOWN_DATA_LENGTH : totalSamples * BYTES_PER_SAMPLE;
  const header = new Uint8Array(WAV_HEADER_LENGTH);
  const view = new DataView(header.buffer);
  header.set(new TextEncoder().encode('RIFF....WAVEfmt '));
  view.setUint32(4, WAV_HEADER_LENGTH - 8 + dataLength, true);
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * BYTES_PER_SAMPLE, true);
  view.setUint16(32, BYTES_PER_SAMPLE, true);
  view.setUint16(34, BYTES_PER_SAMPLE * 8, true);
  header.set(new TextEncoder().encode('data'), 36);
  view.setUint32(40, dataLength, true);
  return header;
}

/**
 * WAV of 16 bits at the rate of the samples.
 *
 * @throws RangeError from `finish` when a total was promised and is not what came
 */
export function createWavEncoder(input: EncoderInput): AudioEncoder {
  let header: Uint8Array<ArrayBuffer> | undefined = wavHeader(input);
  let total = 0;
  return {
    encode(samples) {
      const before = header ?? new Uint8Array(0);
      header = undefined;
      total += samples.length;
      return Buffer.concat([before, pcmBytes(samples)]);
    },
    finish() {
      if (input.totalSamples !== undefined && input.totalSamples !== total) {
        throw new RangeError(`${input.totalSamples} samples were promised, but ${total} came.`);
      }
      return header ?? new Uint8Array(0);
    },
    close() {},
  };
}

/** A stream of samples in, the bytes of one file out. */
export interface AudioEncoder {
  /** Bytes that can be sent now; often none, as formats have blocks and pages. */
  encode(samples: Float32Array): Uint8Array<ArrayBuffer>;
  /** The rest of the file. */
  finish(): Uint8Array<ArrayBuffer>;
  /** Gives back what it holds; afterwards nothing may be asked of it. To be called in any case. */
  close(): void;
}

/** What is known when the first samples have come. */
export interface EncoderInput {
  readonly sampleRate: number;
  /** How many samples will come, where that is known. */
  readonly totalSamples: number | undefined;
}
