import path from 'node:path';
import { safeName } from '../../durable/names.ts';
import type { Output } from '../../durable/output.ts';
import { SAMPLE_RATE } from './line-sound.ts';

/** The track with the lines of one speaker, and its open output file. */
export interface Stem {
  readonly speaker: string;
  readonly output: Output;
}

/** Returns the file path for the track of a speaker. Different speakers have different paths. */
export function stemFile(folder: string, speaker: string): string {
  return path.join(folder, `${safeName(speaker)}.wav`);
}

/**
 * Writes the track of a speaker as a wav file with 32-bit floating-point samples, which may exceed full scale.
 * @param total number of samples
 */
export async function writeStem(
  { output }: Stem,
  sound: AsyncIterable<Float32Array>,
  total: number,
): Promise<void> {
  await output.write(floatWavHeader(total));
  for await (const samples of sound) {
    const bytes = Buffer.alloc(samples.length * STEM_SAMPLE_BYTES);
    for (let index = 0; index < samples.length; index += 1) {
      bytes.writeFloatLE(samples[index] ?? 0, index * STEM_SAMPLE_BYTES);
    }
    await output.write(bytes);
  }
}

export const STEM_SAMPLE_BYTES = 4;
const HEADER_BYTES = 58;
const FLOATS = 3;

function floatWavHeader(total: number): Buffer {
  // Floating-point wav files need a `fact` chunk.
  const dataBytes = total * STEM_SAMPLE_BYTES;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF....WAVEfmt ', 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  header.writeUInt32LE(18, 16);
  header.writeUInt16LE(FLOATS, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * STEM_SAMPLE_BYTES, 28);
  header.writeUInt16LE(STEM_SAMPLE_BYTES, 32);
  header.writeUInt16LE(STEM_SAMPLE_BYTES * 8, 34);
  header.write('fact', 38, 'latin1');
  header.writeUInt32LE(4, 42);
  header.writeUInt32LE(total, 46);
  header.write('data', 50, 'latin1');
  header.writeUInt32LE(dataBytes, 54);
  return header;
}
