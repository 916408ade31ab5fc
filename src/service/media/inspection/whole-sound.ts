import { open } from 'node:fs/promises';
import { filePieces } from '../../../audio/decode/file-pieces.ts';
import type { OpenFile } from '../../../audio/decode/file-pieces.ts';
import { readFlacLength } from '../../../audio/decode/flac-length.ts';
import { createVerifier } from '../../../audio/verify.ts';
import { MediaTaskError } from '../child/media-task-error.ts';
import { decodeFlac } from '../lipsync/decode-sound.ts';

const PIECE_BYTES = 64 * 1024;
/** Less is a rounding. */
const MILLISECOND = 0.001;

/**
 * How long the sound of a FLAC file is. All of it is decoded for that: the demuxer counts whole blocks only, what
 * the file says of itself is true of a part of it too, and a decoder leaves out what is damaged.
 * @returns seconds
 * @throws MediaTaskError when there is less than the file says
 */
export async function flacSeconds(path: string): Promise<number> {
  let heard = 0;
  for await (const { channels, sampleRate, samples } of decodeFlac(path)) {
    heard += samples.length / channels / sampleRate;
  }
  const told = (await within(path, readFlacLength)) ?? heard;
  if (heard > told - MILLISECOND) return told;
  const found = `only ${heard.toFixed(1)} of ${told.toFixed(1)} s can be decoded`;
  throw new MediaTaskError('unreadable', `is damaged or cut: ${found}`);
}

/** @throws MediaTaskError for a page of Ogg that is damaged or not there, which a demuxer passes over */
export async function requireWholePages(path: string): Promise<void> {
  const problem = await within(path, (file) => {
    const verifier = createVerifier('ogg');
    for (const piece of filePieces(file, PIECE_BYTES)) verifier.write(piece);
    // A recording that was stopped has no last page, and is whole all the same.
    return verifier.problem;
  });
  if (problem !== undefined) throw new MediaTaskError('unreadable', problem);
}

async function within<Result>(path: string, read: (file: OpenFile) => Result): Promise<Result> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    return read({ fd: file.fd, size });
  } finally {
    await file.close();
  }
}
