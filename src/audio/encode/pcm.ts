import { endianness } from 'node:os';
import { LARGEST_WAV_LENGTH } from '../wav.ts';

/** An encoder that converts a stream of samples to the bytes of one file. */
export interface AudioEncoder {
  /** Encodes samples. Returns the output bytes that are ready so far, often none. */
  encode(samples: Float32Array): Uint8Array<ArrayBuffer>;
  /** Returns the remaining bytes of the file. */
  finish(): Uint8Array<ArrayBuffer>;
  /** Frees the memory of the encoder. Must be the last call, also after a failure. */
  close(): void;
}

/** Sample rate in Hz that clients of third-party speech APIs assume for raw samples. */
export const PCM_SAMPLE_RATE = 24_000;

/** Creates an encoder of raw 16-bit mono samples (little-endian, without a header). Does not resample. */
export function createPcmEncoder(): AudioEncoder {
  return { encode: pcmBytes, finish: () => new Uint8Array(0), close: () => {} };
}

/** Converts samples from -1 to 1 into 16-bit little-endian samples. */
export function pcmBytes(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const levels = new Int16Array(samples.length);
  for (let index = 0; index < levels.length; index += 1) {
    levels[index] = Math.round(Math.min(1, Math.max(-1, samples[index] ?? 0)) * 0x7fff);
  }
  return littleEndian(new Uint8Array(levels.buffer));
}

/** Converts 16-bit little-endian samples to numbers from -1 to 1. Ignores an incomplete sample at the end. */
export function samplesOf(pcm: Uint8Array): Float32Array {
  // A copy, since the numbers of an Int16Array have to be aligned.
  const whole = new Uint8Array(pcm.subarray(0, pcm.length - (pcm.length % BYTES_PER_SAMPLE)));
  const levels = new Int16Array(littleEndian(whole).buffer);
  const samples = new Float32Array(levels.length);
  for (let index = 0; index < levels.length; index += 1)
    samples[index] = (levels[index] ?? 0) / 0x8000;
  return samples;
}

/** Exchanges the bytes of each sample, in place, unless this machine is little-endian. */
export function littleEndian(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (endianness() === 'BE') Buffer.from(bytes.buffer).swap16();
  return bytes;
}

export const BYTES_PER_SAMPLE = 2;
export const WAV_HEADER_LENGTH = 44;

const MOST_SAMPLES = Math.floor((0xffff_ffff - (WAV_HEADER_LENGTH - 8)) / BYTES_PER_SAMPLE);

/**
 * Creates the 44-byte header of a WAV file of 16-bit mono samples. Without `totalSamples`, the lengths in the
 * header are 0xFFFFFFFF, which means unknown.
 * @throws RangeError if the length does not fit into the header
 */
export function wavHeader(sampleRate: number, totalSamples?: number): Uint8Array<ArrayBuffer> {
  if (totalSamples !== undefined && totalSamples > MOST_SAMPLES) {
    throw new RangeError(`A WAV file has at most ${MOST_SAMPLES} samples, not ${totalSamples}.`);
  }
  const dataLength =
    totalSamples === undefined ? LARGEST_WAV_LENGTH : totalSamples * BYTES_PER_SAMPLE;
  const header = Buffer.alloc(WAV_HEADER_LENGTH);
  header.write('RIFF....WAVEfmt ', 'latin1');
  header.writeUInt32LE(Math.min(LARGEST_WAV_LENGTH, WAV_HEADER_LENGTH - 8 + dataLength), 4);
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

/** Creates an encoder of 16-bit mono WAV. The header states an unknown length. */
export function createWavEncoder(sampleRate: number): AudioEncoder {
  let header: Uint8Array<ArrayBuffer> = wavHeader(sampleRate);
  const encode = (samples: Float32Array): Uint8Array<ArrayBuffer> => {
    const bytes = Buffer.concat([header, pcmBytes(samples)]);
    header = new Uint8Array(0);
    return bytes;
  };
  return { encode, finish: () => encode(new Float32Array(0)), close: () => {} };
}
