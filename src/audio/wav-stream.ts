import type { FileSystem } from '../system/file-system.ts';
import { mixToMono } from './resample.ts';
import { sniff } from './sniff.ts';
import { UnusableAudioError } from './sound.ts';
import { createWavDecoder, findWavSamples } from './wav-samples.ts';

export interface WavStream {
  /** Sample rate in Hz. */
  readonly sampleRate: number;
  /** The samples of all channels, mixed to one. */
  readonly samples: AsyncIterable<Float32Array>;
}

// Chunks before the samples, such as a list of tags, may be long.
const HEAD_BYTES_MAX = 1 << 20;

/**
 * Decodes a WAV file while its bytes arrive.
 * @throws UnusableAudioError if it has no samples, or samples of an unknown encoding
 */
export async function readWavStream(bytes: AsyncIterable<Uint8Array>): Promise<WavStream> {
  const chunks = bytes[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (;;) {
    const found = findWavSamples(head);
    if (found !== undefined) {
      const { end, layout, start } = found;
      const samples = decode(head.subarray(start), chunks, end - start, createWavDecoder(layout));
      return { sampleRate: layout.sampleRate, samples };
    }
    const next = head.length > HEAD_BYTES_MAX ? undefined : await chunks.next();
    if (next === undefined || next.done === true) throw new UnusableAudioError('is not wav');
    head = Buffer.concat([head, next.value]);
  }
}

async function* decode(
  first: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  length: number,
  decoder: ReturnType<typeof createWavDecoder>,
): AsyncGenerator<Float32Array> {
  let missing = length;
  let piece: Uint8Array | undefined = first;
  while (piece !== undefined && missing > 0) {
    const { channels } = await decoder.decode(piece.subarray(0, missing));
    missing -= piece.length;
    yield mixToMono(channels);
    const next: IteratorResult<Uint8Array> = await chunks.next();
    piece = next.done === true ? undefined : next.value;
  }
  // Chunks after the samples have no sound.
  while (piece !== undefined) {
    const next: IteratorResult<Uint8Array> = await chunks.next();
    piece = next.done === true ? undefined : next.value;
  }
}

/** Returns whether a file begins as a WAV file. @throws the error of the file system */
export async function isWavFile(file: string, files: FileSystem): Promise<boolean> {
  const handle = await files.open(file, 'r');
  try {
    const head = new Uint8Array(64);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    const found = sniff(head.subarray(0, bytesRead));
    return found.kind === 'known' && found.format === 'wav';
  } finally {
    await handle.close();
  }
}
