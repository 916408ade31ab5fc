import { open } from 'node:fs/promises';
import { parseMp3Frame } from '../../../audio/mp3-frames.ts';
import { readMp3InfoTag } from '../../../audio/mp3-info-tag.ts';
import { mp3TagLength } from '../../../audio/mp3-tags.ts';

/** What an encoder added to the sound, in seconds. */
export interface EncoderPadding {
  readonly before: number;
  readonly behind: number;
  /** How much it may have added without a word. */
  readonly unknown: number;
}

const NONE: EncoderPadding = { before: 0, behind: 0, unknown: 0 };
/** Encoders of mp3 and AAC add three frames at most. */
const UNTOLD: EncoderPadding = { ...NONE, unknown: 0.08 };

/** What a decoder of mp3 lags behind by itself, in samples, on top of what the tag tells. */
const DECODER_DELAY = 529;

/** Far enough for the first frame behind a tag that is no picture book. */
const HEAD_BYTES = 4 * 1024 * 1024;

/**
 * What an encoder added before and behind the sound of a file whose format does not say: mp3 files tell it
 * in their first frame, if their encoder was a kind one, and bare AAC does not.
 */
export async function encoderPadding(path: string, format: string): Promise<EncoderPadding> {
  if (format === 'ADTS') return UNTOLD;
  if (format !== 'MP3') return NONE;
  return toldByMp3(await headOf(path)) ?? UNTOLD;
}

function toldByMp3(bytes: Uint8Array): EncoderPadding | undefined {
  let at = 0;
  for (let length = mp3TagLength(bytes, at); length > 0; length = mp3TagLength(bytes, at))
    at += length;
  const frame = parseMp3Frame(bytes, at);
  if (frame === undefined) return undefined;
  const tag = readMp3InfoTag(bytes.subarray(at), frame);
  if (tag === undefined || tag.delay + tag.padding === 0) return undefined;
  return {
    before: (tag.delay + DECODER_DELAY) / frame.sampleRate,
    behind: (tag.padding - DECODER_DELAY) / frame.sampleRate,
    unknown: 0,
  };
}

async function headOf(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
