import { parseMp3Frame } from '../../../audio/mp3-frames.ts';
import { crc16 } from './crc16.ts';

export interface Mp3Length {
  /** Frames of sound, and the bytes of them all. */
  readonly frames: number;
  readonly audioBytes: number;
  /** Samples of the sound itself, without what the encoder adds before and after it. */
  readonly samples: number;
  /** CRC-16 of the frames. */
  readonly checksum: number;
}

/** Samples that LAME puts before the sound. */
const ENCODER_DELAY = 576;

/** What LAME calls itself. Decoders trust delay and padding of encoders that they know. */
const ENCODER = 'LAME3.100';

/** Frame count, byte count, seek table and quality are there. */
const ALL_FIELDS = 0x0f;
const CONSTANT_BITRATE = 1;
const KILOBITS_PER_SECOND = 128;

/**
 * A whole frame with the Info tag in it and LAME's extension, as LAME itself writes them.
 * @param frame a frame of the same stream with nothing but its header in it
 */
export function writeMp3InfoTag(frame: Uint8Array, length: Mp3Length): Uint8Array {
  const parsed = parseMp3Frame(frame, 0);
  if (parsed === undefined) throw new TypeError('An Info tag needs the frame that it stands in.');
  const bytes = frame.slice();
  const view = new DataView(bytes.buffer);
  const start = parsed.infoOffset;
  const fileBytes = bytes.length + length.audioBytes;
  bytes.set(latin1('Info'), start);
  view.setUint32(start + 4, ALL_FIELDS);
  view.setUint32(start + 8, length.frames);
  view.setUint32(start + 12, fileBytes);
  // At a constant rate the place of a hundredth of the time is a hundredth of the bytes.
  for (let part = 0; part < 100; part += 1) bytes[start + 16 + part] = (part * 256) / 100;
  const lame = start + 120;
  const padding = length.frames * parsed.samples - ENCODER_DELAY - length.samples;
  bytes.set(latin1(ENCODER), lame);
  bytes[lame + 9] = CONSTANT_BITRATE;
  view.setUint32(lame + 20, (KILOBITS_PER_SECOND << 24) | (ENCODER_DELAY << 12) | padding);
  view.setUint32(lame + 28, fileBytes);
  view.setUint16(lame + 32, length.checksum);
  view.setUint16(lame + 34, crc16(bytes.subarray(0, lame + 34)));
  return bytes;
}

function latin1(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}
