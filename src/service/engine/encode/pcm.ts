/** Encodes a stream of samples as the bytes of one file. */
export interface AudioEncoder {
  /** Returns the bytes that are ready; often none, as formats have blocks and pages. */
  encode(samples: Float32Array): Uint8Array<ArrayBuffer>;
  /** Returns the rest of the file. */
  finish(): Uint8Array<ArrayBuffer>;
  /** Frees its resources; to be called in any case, and last. */
  close(): void;
}

/** The sample rate that clients of the third-party speech interfaces assume for raw samples. */
export const PCM_SAMPLE_RATE = 24_000;

/** Encodes raw samples of 16 bits, little-endian, mono, without a header; the caller resamples to 24 kHz. */
export function createPcmEncoder(): AudioEncoder {
  return { encode: pcmBytes, finish: () => new Uint8Array(0), close: () => {} };
}

/** Converts samples in -1..1 to 16 bits, little-endian. */
export function pcmBytes(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(samples.length * BYTES_PER_SAMPLE);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < samples.length; index += 1) {
    const level = Math.min(1, Math.max(-1, samples[index] ?? 0));
    view.setInt16(index * BYTES_PER_SAMPLE, Math.round(level * 0x7fff), true);
  }
  return bytes;
}

/** Converts samples of 16 bits, little-endian, to -1..1; ignores half a sample at the end. */
export function samplesOf(pcm: Uint8Array): Float32Array {
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  const samples = new Float32Array(Math.floor(pcm.length / BYTES_PER_SAMPLE));
  for (let index = 0; index < samples.length; index += 1) {
    samples[index] = view.getInt16(index * BYTES_PER_SAMPLE, true) / 0x8000;
  }
  return samples;
}

export const BYTES_PER_SAMPLE = 2;
export const WAV_HEADER_LENGTH = 44;

/**
 * The length in a stream's header: the largest even one with which every field is positive as a signed 32-bit
 * number. Some players stop at once at a length of 0, and read 0xFFFFFFFF as -1.
 */
const UNKNOWN_DATA_LENGTH = 0x7fff_ffff - (WAV_HEADER_LENGTH - 8) - 1;

const MOST_SAMPLES = Math.floor((0xffff_ffff - (WAV_HEADER_LENGTH - 8)) / BYTES_PER_SAMPLE);

/**
 * Creates the 44 bytes before mono samples of 16 bits; without `totalSamples` those of a stream.
 * @throws RangeError when the format cannot count so many samples
 */
export function wavHeader(sampleRate: number, totalSamples?: number): Uint8Array<ArrayBuffer> {
  if (totalSamples !== undefined && totalSamples > MOST_SAMPLES) {
    throw new RangeError(`A WAV file has at most ${MOST_SAMPLES} samples, not ${totalSamples}.`);
  }
  const dataLength =
    totalSamples === undefined ? UNKNOWN_DATA_LENGTH : totalSamples * BYTES_PER_SAMPLE;
  const header = Buffer.alloc(WAV_HEADER_LENGTH);
  header.write('RIFF....WAVEfmt ', 'latin1');
  header.writeUInt32LE(WAV_HEADER_LENGTH - 8 + dataLength, 4);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataLength, 40);
  return header;
}

/** Encodes WAV of 16 bits at the rate of the samples, with the header of a stream. */
export function createWavEncoder(sampleRate: number): AudioEncoder {
  let header: Uint8Array<ArrayBuffer> = wavHeader(sampleRate);
  const takeHeader = (): Uint8Array<ArrayBuffer> => {
    const taken = header;
    header = new Uint8Array(0);
    return taken;
  };
  return {
    encode: (samples) => Buffer.concat([takeHeader(), pcmBytes(samples)]),
    finish: takeHeader,
    close() {},
  };
}
