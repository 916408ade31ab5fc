import { crc16 } from './crc16.ts';
import { parseMp3Frame } from './mp3-frames.ts';

/** What the Info tag of a whole file tells. */
export interface Mp3Whole {
  /** Frames of sound, and the bytes of them all. */
  readonly frames: number;
  readonly audioBytes: number;
  /** CRC-16 of the frames. */
  readonly checksum: number;
  /** The one bit rate of all frames; undefined when it varies. */
  readonly kilobitsPerSecond: number | undefined;
  /** Samples that the encoder added before and after the sound; undefined when nobody knows. */
  readonly added: { readonly delay: number; readonly padding: number } | undefined;
  /**
   * Of each hundredth of the time, where in the bytes of sound it begins, from 0 to 1. At a constant rate
   * that is the same hundredth of the bytes.
   */
  readonly places?: readonly number[] | undefined;
}

/** What LAME calls itself. Decoders trust delay and padding of encoders that they know. */
const ENCODER = 'LAME3.100';

/** Frame count, byte count, seek table and quality are there. */
const ALL_FIELDS = 0x0f;
const CONSTANT_BITRATE = 1;
const VARIABLE_BITRATE = 3;
/** From the mark to the end of LAME's extension. */
const TAG_BYTES = 156;
const LARGEST_ADDED = 0xfff;

/**
 * A frame like this one with nothing in it, and room for the Info tag: without the extra byte and the
 * checksum that some have, and at a higher bit rate where its own leaves no room.
 * @param header the four bytes of a frame's header
 */
export function emptyMp3Frame(header: Uint8Array): Uint8Array {
  const plain = header.slice(0, 4);
  plain[1] = (plain[1] ?? 0) | 1;
  for (let bitrate = (plain[2] ?? 0) >> 4; bitrate < 15; bitrate += 1) {
    plain[2] = (bitrate << 4) | ((plain[2] ?? 0) & 0x0d);
    const frame = parseMp3Frame(plain, 0);
    if (frame !== undefined && frame.length >= frame.infoOffset + TAG_BYTES) {
      const bytes = new Uint8Array(frame.length);
      bytes.set(plain);
      return bytes;
    }
  }
  throw new TypeError('This is no header of an mp3 frame.');
}

/**
 * A whole frame with the Info tag in it and LAME's extension, as LAME itself writes them.
 * @param frame of {@link emptyMp3Frame}
 */
export function writeMp3InfoTag(frame: Uint8Array, whole: Mp3Whole): Uint8Array {
  const parsed = parseMp3Frame(frame, 0);
  if (parsed === undefined) throw new TypeError('An Info tag needs the frame that it stands in.');
  const bytes = frame.slice();
  const view = new DataView(bytes.buffer);
  const start = parsed.infoOffset;
  const fileBytes = bytes.length + whole.audioBytes;
  const isConstant = whole.kilobitsPerSecond !== undefined;
  bytes.set(latin1(isConstant ? 'Info' : 'Xing'), start);
  view.setUint32(start + 4, ALL_FIELDS);
  view.setUint32(start + 8, whole.frames);
  view.setUint32(start + 12, fileBytes);
  for (let part = 0; part < 100; part += 1) {
    bytes[start + 16 + part] = Math.min(255, (whole.places?.[part] ?? part / 100) * 256);
  }
  if (whole.added === undefined) return bytes;
  const { delay, padding } = whole.added;
  const lame = start + 120;
  const rate = Math.min(255, whole.kilobitsPerSecond ?? 0);
  bytes.set(latin1(ENCODER), lame);
  bytes[lame + 9] = isConstant ? CONSTANT_BITRATE : VARIABLE_BITRATE;
  view.setUint8(lame + 20, rate);
  const added = (Math.min(LARGEST_ADDED, delay) << 12) | Math.min(LARGEST_ADDED, padding);
  view.setUint8(lame + 21, added >>> 16);
  view.setUint16(lame + 22, added & 0xffff);
  view.setUint32(lame + 28, fileBytes);
  view.setUint16(lame + 32, whole.checksum);
  view.setUint16(lame + 34, crc16(bytes.subarray(0, lame + 34)));
  return bytes;
}

function latin1(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}
