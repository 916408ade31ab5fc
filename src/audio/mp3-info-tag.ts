import type { Mp3Frame } from './mp3-frames.ts';

/** What the Info (or Xing) tag in an mp3's first frame tells; a count of 0 is told as none. */
export interface Mp3InfoTag {
  /** Frames of sound, the tag's own left out. */
  readonly frames: number | undefined;
  /** Bytes of all frames, the tag's own included. */
  readonly bytes: number | undefined;
  /** Samples that the encoder added before and after the sound. */
  readonly delay: number;
  readonly padding: number;
}

/** As far as the LAME extension of an Info tag reaches, checksum of the frame included. */
export const INFO_BYTES = 190;

/** The tag in a first frame, of which `bytes` holds the beginning, or undefined when it has none. */
export function readMp3InfoTag(bytes: Uint8Array, frame: Mp3Frame): Mp3InfoTag | undefined {
  const text = Buffer.from(bytes).toString('latin1');
  const start = frame.infoOffset;
  const mark = text.slice(start, start + 4);
  if ((mark !== 'Xing' && mark !== 'Info') || bytes.length < start + 8) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint32(start + 4);
  let at = start + 8;
  const counts: (number | undefined)[] = [];
  for (const [flag, length] of FIELDS) {
    const isThere = (flags & flag) !== 0 && at + 4 <= bytes.length;
    counts.push(isThere ? view.getUint32(at) || undefined : undefined);
    if ((flags & flag) !== 0) at += length;
  }
  const hasLame = /^(?:LAME|Lavc|Lavf)/.test(text.slice(at, at + 4)) && at + 24 <= bytes.length;
  return {
    frames: counts[0],
    bytes: counts[1],
    delay: hasLame ? view.getUint16(at + 21) >> 4 : 0,
    padding: hasLame ? view.getUint16(at + 22) & 0xfff : 0,
  };
}

/** Frame count, byte count, seek table and quality: the flag of each and its length. */
const FIELDS = [
  [1, 4],
  [2, 4],
  [4, 100],
  [8, 4],
] as const;
