import type { AudioEncoder, EncoderInput } from './audio-encoder.ts';
import { BYTES_PER_SAMPLE, pcmBytes } from './pcm.ts';

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
