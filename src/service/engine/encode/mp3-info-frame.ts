import { crc16 } from './crc16.ts';

/** What is known of an mp3 once all of it is encoded. */
export interface Mp3Facts {
  /** The four bytes with which its first frame begins. */
  readonly header: Uint8Array;
  /** Frames of sound. */
  readonly frames: number;
  /** Bytes of sound. */
  readonly bytes: number;
  /** Samples that the sound has. */
  readonly samples: number;
  /** CRC-16 of the bytes of sound. */
  readonly checksum: number;
}

/** Of MPEG-1 layer III at 128 kbit/s and 44.1 kHz, without padding. */
export const INFO_FRAME_LENGTH = 417;
export const SAMPLES_PER_FRAME = 1_152;

/** Samples that LAME puts before the sound. */
const ENCODER_DELAY = 576;
/** After the header and the side information of a mono frame. */
const TAG_OFFSET = 21;
const LAME_OFFSET = TAG_OFFSET + 120;
const CRC_OFFSET = LAME_OFFSET + 34;
const HAS_FRAMES_BYTES_AND_SEEK_TABLE = 7;
const SEEK_TABLE_LENGTH = 100;
const CONSTANT_BIT_RATE = 1;
const KILOBITS_PER_SECOND = 128;

/**
 * The silent frame before the sound whose Info and LAME tags tell its exact length, so that decoders
 * leave the encoder's own samples out at both ends and players can seek.
 */
export function mp3InfoFrame(facts: Mp3Facts): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(INFO_FRAME_LENGTH);
  const view = new DataView(frame.buffer);
  frame.set(facts.header);
  // Without a checksum after the header and without padding, as the length of this frame has it.
  view.setUint8(1, view.getUint8(1) | 0x01);
  view.setUint8(2, view.getUint8(2) & ~0x02);
  setText(frame, TAG_OFFSET, 'Info');
  view.setUint32(TAG_OFFSET + 4, HAS_FRAMES_BYTES_AND_SEEK_TABLE);
  view.setUint32(TAG_OFFSET + 8, facts.frames);
  view.setUint32(TAG_OFFSET + 12, facts.bytes + INFO_FRAME_LENGTH);
  // At a constant rate the n-th hundredth of the time is that of the bytes.
  for (let index = 0; index < SEEK_TABLE_LENGTH; index += 1) {
    view.setUint8(TAG_OFFSET + 16 + index, Math.floor((index * 256) / SEEK_TABLE_LENGTH));
  }
  setLameTag(frame, view, facts);
  return frame;
}

function setLameTag(frame: Uint8Array, view: DataView, facts: Mp3Facts): void {
  const padding = facts.frames * SAMPLES_PER_FRAME - ENCODER_DELAY - facts.samples;
  setText(frame, LAME_OFFSET, 'LAME3.100');
  view.setUint8(LAME_OFFSET + 9, CONSTANT_BIT_RATE);
  view.setUint8(LAME_OFFSET + 20, KILOBITS_PER_SECOND);
  view.setUint8(LAME_OFFSET + 21, ENCODER_DELAY >> 4);
  view.setUint16(LAME_OFFSET + 22, ((ENCODER_DELAY & 0xf) << 12) | padding);
  view.setUint32(LAME_OFFSET + 28, facts.bytes + INFO_FRAME_LENGTH);
  view.setUint16(LAME_OFFSET + 32, facts.checksum);
  view.setUint16(CRC_OFFSET, crc16(frame.subarray(0, CRC_OFFSET)));
}

function setText(bytes: Uint8Array, at: number, text: string): void {
  bytes.set(new TextEncoder().encode(text), at);
}
