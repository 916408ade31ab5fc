import type { Findings, JudgingReader, Walker } from './reader.ts';
import { TO_THE_END } from './reader.ts';

/**
 * Walks an mp3 from frame to frame. Between frames only whole ID3v2, ID3v1 and APEv2 tags may stand;
 * any other byte is a fault, for searching on for something like a header is how a decoder plays
 * noise. A cut inside a frame or a tag is seen; a cut exactly between two frames is seen only when
 * an Info (Xing) tag told how many there would be.
 */
export class Mp3Reader implements JudgingReader {
  want = HEADER_BYTES;
  skip = 0;
  problem: string | undefined;
  begun = false;

  #first: Mp3Frame | undefined;
  #tag: Mp3InfoTag | undefined;
  #frames = 0;
  #frameBytes = 0;
  /** Samples since the sample rate last changed, and the time before that. */
  #samples = 0;
  #frameSamples = 0;
  #earlierMs = 0;
  #sampleRate = 0;
  #rateBits = -1;

  step(bytes: Uint8Array, at: number, position: number): void {
    const second = bytes[at + 1] ?? 0;
    const third = bytes[at + 2] ?? 0;
    const length = bytes[at] === 0xff ? mp3FrameLength(second, third) : 0;
    if (length === 0) {
      this.#stepTag(bytes, at, position);
    } else if (this.#first === undefined) {
      this.#stepFirst(bytes, at, length);
    } else {
      if (rateBitsOf(second, third) !== this.#rateBits) this.#changeRate(bytes, at);
      this.#pass(length);
      this.#frames += 1;
      this.#samples += this.#frameSamples;
    }
  }

  finish(walker: Walker): Findings {
    const tag = this.#tag;
    const isWhole = tag?.frames === undefined || tag.frames === this.#frames;
    const padding = isWhole ? (tag?.delay ?? 0) + (tag?.padding ?? 0) : 0;
    const samples = Math.max(0, this.#samples - padding);
    const isSound = this.#frames > 0 && this.#sampleRate > 0;
    return {
      durationMs: isSound ? this.#earlierMs + (samples / this.#sampleRate) * 1000 : undefined,
      sampleRate: this.#first?.sampleRate,
      channels: this.#first?.channels,
      endIsProven: tag?.frames !== undefined,
      problem: this.#problemAtEnd(walker),
    };
  }

  #problemAtEnd(walker: Walker): string | undefined {
    if (this.problem !== undefined) return this.problem;
    if (walker.bytes === 0) return 'is empty';
    if (this.skip > 0) return 'is cut: it ends inside a frame or a tag';
    if (walker.held.length > 0) return this.#problemOfRest(walker);
    if (this.#frames === 0) return 'has no audio frame';
    const { frames, bytes } = this.#tag ?? {};
    // Some writers count the tag's own frame; the byte count, where there is one, tells them apart.
    const lacksFrames =
      frames !== undefined && this.#frames < frames - (bytes === undefined ? 1 : 0);
    const lacksBytes = bytes === undefined || this.#frameBytes < bytes;
    return lacksFrames && lacksBytes
      ? `is cut: it has ${this.#frames} of ${frames} frames`
      : undefined;
  }

  #problemOfRest(walker: Walker): string {
    const [first = 0] = walker.held;
    const couldGoOn = first === 0xff || first === 0x49 || first === 0x54 || first === 0x41;
    if (couldGoOn && this.begun) return 'is cut: it ends inside a header';
    return strayBytes(walker.position);
  }

  /** The first frame may be no sound but a tag that tells the length of the whole. */
  #stepFirst(bytes: Uint8Array, at: number, length: number): void {
    const look = Math.min(length, INFO_BYTES);
    this.begun = true;
    if (this.want < look) {
      this.want = look;
      return;
    }
    const frame = this.#changeRate(bytes, at);
    if (frame === undefined) return;
    this.#first = frame;
    this.#tag = readMp3InfoTag(bytes.subarray(at, at + look), frame);
    this.#pass(length);
    if (this.#tag === undefined) {
      this.#frames += 1;
      this.#samples += frame.samples;
    }
  }

  #changeRate(bytes: Uint8Array, at: number): Mp3Frame | undefined {
    const frame = parseMp3Frame(bytes, at);
    if (frame === undefined) return undefined;
    if (this.#sampleRate > 0) this.#earlierMs += (this.#samples / this.#sampleRate) * 1000;
    this.#samples = 0;
    this.#sampleRate = frame.sampleRate;
    this.#frameSamples = frame.samples;
    this.#rateBits = rateBitsOf(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0);
    return frame;
  }

  #pass(length: number): void {
    this.skip = length;
    this.want = HEADER_BYTES;
    this.#frameBytes += length;
  }

  #stepTag(bytes: Uint8Array, at: number, position: number): void {
    const needed = mp3TagHeadBytes(bytes, at);
    if (this.want < needed) {
      this.want = needed;
      return;
    }
    const length = mp3TagLength(bytes, at);
    if (length === 0) {
      this.problem = this.begun ? strayBytes(position) : 'is not mp3';
      this.skip = TO_THE_END;
      return;
    }
    this.begun = true;
    this.skip = length;
    this.want = HEADER_BYTES;
  }
}

const HEADER_BYTES = 4;

/** What a header says of version and sample rate, which are the same all through most files. */
function rateBitsOf(second: number, third: number): number {
  return ((second & 0x18) << 8) | (third & 0x0c);
}

function strayBytes(position: number): string {
  return `has bytes that are no mp3 at offset ${position}`;
}

/** What the four bytes of an MPEG audio layer III frame header say. */
export interface Mp3Frame {
  /** Bytes of the whole frame, the header included. */
  readonly length: number;
  /** Samples per channel. */
  readonly samples: number;
  readonly sampleRate: number;
  readonly channels: 1 | 2;
  /** Where the side information ends and an Info tag may stand, from the frame's beginning. */
  readonly infoOffset: number;
}

/**
 * Bytes of the layer III frame whose header begins with 0xff and these two bytes, or 0 when they
 * are no such header: another layer (ADTS has none), a reserved value, or the free format, whose
 * frames do not tell their length.
 */
export function mp3FrameLength(second: number, third: number): number {
  if ((second & 0xe6) !== 0xe2) return 0;
  const length = LENGTHS[lengthIndex(second, third)] ?? 0;
  return length === 0 ? 0 : length + ((third >> 1) & 1);
}

/** The whole header at `at`, or undefined when there is none. */
export function parseMp3Frame(bytes: Uint8Array, at: number): Mp3Frame | undefined {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4);
  const length = first === 0xff ? mp3FrameLength(second, third) : 0;
  if (length === 0) return undefined;
  const isMpeg1 = versionOf(second) === MPEG_1;
  const channels = fourth >> 6 === 3 ? 1 : 2;
  const sideInformation = isMpeg1 ? { 1: 17, 2: 32 } : { 1: 9, 2: 17 };
  const checksum = (second & 1) === 0 ? 2 : 0;
  return {
    length,
    samples: isMpeg1 ? 1152 : 576,
    sampleRate: sampleRateOf(second, third),
    channels,
    infoOffset: 4 + checksum + sideInformation[channels],
  };
}

/** Kilobits a second that the frame header at `at` tells; 0 for the free format. */
export function mp3BitRate(bytes: Uint8Array, at: number): number {
  const isMpeg1 = versionOf(bytes[at + 1] ?? 0) === MPEG_1;
  return (isMpeg1 ? BITRATES_1 : BITRATES_2)[(bytes[at + 2] ?? 0) >> 4] ?? 0;
}

const MPEG_1 = 3;
const MPEG_2 = 2;

/** Kilobits a second by index, 0 where the index is the free format or reserved. */
const BITRATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0];
const BITRATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0];
const SAMPLE_RATES = [44_100, 48_000, 32_000, 0];

/** Frame lengths without padding, by version, bitrate and sample rate, 0 where there is no frame. */
const LENGTHS = Uint16Array.from({ length: 256 }, (_, index) => {
  const second = (index >> 6) << 3;
  const third = (index & 0x3f) << 2;
  const isMpeg1 = versionOf(second) === MPEG_1;
  const bitrate = (isMpeg1 ? BITRATES_1 : BITRATES_2)[third >> 4] ?? 0;
  const sampleRate = sampleRateOf(second, third);
  return sampleRate === 0 ? 0 : Math.floor(((isMpeg1 ? 144 : 72) * bitrate * 1000) / sampleRate);
});

function lengthIndex(second: number, third: number): number {
  return (versionOf(second) << 6) | (third >> 2);
}

function versionOf(second: number): number {
  return (second >> 3) & 3;
}

function sampleRateOf(second: number, third: number): number {
  const rate = SAMPLE_RATES[(third >> 2) & 3] ?? 0;
  const version = versionOf(second);
  if (version === MPEG_1) return rate;
  if (version === MPEG_2) return rate / 2;
  return version === 0 ? rate / 4 : 0;
}

/** What the Info (or Xing) tag in an mp3's first frame tells; a count of 0 is told as none. */
interface Mp3InfoTag {
  /** Frames of sound, the tag's own left out. */
  readonly frames: number | undefined;
  /** Bytes of all frames, the tag's own included. */
  readonly bytes: number | undefined;
  /** Samples that the encoder added before and after the sound. */
  readonly delay: number;
  readonly padding: number;
}

/** As far as the LAME extension of an Info tag reaches, checksum of the frame included. */
const INFO_BYTES = 190;

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

/** Bytes that say which tag it is, as many as a frame's header has. */
export const MARK_BYTES = 4;

/** How many bytes of what may be a tag between frames must be seen to know its length. */
export function mp3TagHeadBytes(bytes: Uint8Array, at: number): number {
  const mark = markAt(bytes, at);
  if (mark === 'APET') return APE_BYTES;
  return mark.startsWith('ID3') ? ID3_BYTES : MARK_BYTES;
}

/** The length of the whole ID3v2, ID3v1 or APEv2 tag that begins at `at`; 0 for anything else. */
export function mp3TagLength(bytes: Uint8Array, at: number): number {
  const mark = markAt(bytes, at);
  if (mark.startsWith('ID3')) return id3TagLength(bytes, at) ?? 0;
  if (mark.startsWith('TAG')) return ID3V1_BYTES;
  if (Buffer.from(bytes.subarray(at, at + 8)).toString('latin1') !== 'APETAGEX') return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, APE_BYTES);
  const isHeader = (view.getUint32(20, true) & 0x2000_0000) !== 0;
  // The size leaves the header out; a footer that stands alone closes items that were not walked.
  return isHeader ? APE_BYTES + view.getUint32(12, true) : 0;
}

const ID3_BYTES = 10;
const ID3V1_BYTES = 128;
const APE_BYTES = 32;

function markAt(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.subarray(at, at + MARK_BYTES)).toString('latin1');
}

/**
 * Bytes of the ID3v2 tag that begins at `at` (the caller has seen `ID3`), header and footer
 * included; 0 when its header is not valid, undefined when fewer than its 10 bytes are there.
 */
export function id3TagLength(bytes: Uint8Array, at: number): number | undefined {
  if (at + 10 > bytes.length) return undefined;
  const [major = 0, revision = 0, flags = 0, ...size] = bytes.subarray(at + 3, at + 10);
  if (major === 0xff || revision === 0xff || size.some((byte) => byte >= 0x80)) return 0;
  const content = size.reduce((sum, byte) => sum * 128 + byte, 0);
  return 10 + content + ((flags & 0x10) === 0 ? 0 : 10);
}

/** What the Info tag of a whole file tells. */
interface Mp3Whole {
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

/** CRC-16 (polynomial 0x8005, reflected) as the LAME tag has it; `before` continues an earlier one. */
export function crc16(bytes: Uint8Array, before = 0): number {
  let crc = before;
  for (const byte of bytes) crc = (crc >> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return crc;
}

const TABLE = Uint16Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 0 ? crc >> 1 : (crc >> 1) ^ 0xa001;
  return crc;
});
