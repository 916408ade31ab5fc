import { readSync } from 'node:fs';

/** The decoded samples of each channel, from -1 to 1. All channels have the same number of samples. */
export interface DecodedSound {
  readonly channels: readonly Float32Array[];
  readonly sampleRate: number;
  /** True if the decoder reported errors and skipped damaged parts of the file. */
  readonly isDamaged?: boolean;
}

export const NO_SOUND: DecodedSound = { channels: [], sampleRate: 0 };

/** A decoder that receives the bytes of one audio stream in pieces. */
export interface SoundDecoder {
  /** Maximum size of a piece in bytes. It limits the memory for the decoded samples. */
  readonly pieceBytes: number;
  /** Decodes the next piece of the stream. Returns the samples that are ready. The caller may then reuse `piece`. */
  decode(piece: Uint8Array): Promise<DecodedSound>;
  finish(): Promise<DecodedSound>;
  close(): void;
}

/** The bytes of an audio stream, in pieces of any size. A piece is valid only until the next one. */
export type AudioPieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Opens a decoder, decodes all pieces of an audio stream, and closes the decoder. */
export async function* decodeAll(
  pieces: AudioPieces,
  open: () => Promise<SoundDecoder>,
): AsyncGenerator<DecodedSound> {
  const decoder = await open();
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; at += decoder.pieceBytes) {
        yield await decoder.decode(piece.subarray(at, at + decoder.pieceBytes));
      }
    }
    yield await decoder.finish();
  } finally {
    decoder.close();
  }
}

/**
 * Thrown for a file that cannot be used. The message begins with a verb, such as "is not audio", so that callers can
 * put the file name before it.
 */
export class UnusableAudioError extends Error {
  override readonly name = 'UnusableAudioError';
}

/** An open file, in a form that can be sent to a worker thread. */
export interface OpenFile {
  readonly fd: number;
  readonly size: number;
}

/** Yields the content of a file in pieces. The pieces share one buffer, so a piece is valid only until the next one. */
export function* filePieces(
  { fd, size }: OpenFile,
  pieceBytes: number,
  start = 0,
): Generator<Uint8Array, undefined> {
  const buffer = new Uint8Array(pieceBytes);
  for (let position = start; position < size;) {
    const bytes = readSync(fd, buffer, 0, Math.min(pieceBytes, size - position), position);
    if (bytes === 0) return;
    position += bytes;
    yield buffer.subarray(0, bytes);
  }
}

/** Returns the first `bytes` bytes of a file, or the whole file if it is shorter. */
export function fileHead(file: OpenFile, bytes: number): Uint8Array {
  const [head = new Uint8Array(0)] = filePieces(file, bytes);
  return head;
}
