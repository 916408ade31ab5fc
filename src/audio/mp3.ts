import type { Findings, Walker } from './reader.ts';
import { VerifyingReader } from './reader.ts';

/**
 * Verifies an MP3 frame by frame, and skips complete ID3v2, ID3v1 and APEv2 tags. A file truncated after a complete
 * frame is detected only if an Info (Xing) tag contains the number of frames.
 */
export class Mp3Reader extends VerifyingReader {
  #first: Mp3Frame | undefined;
  #tag: Mp3InfoTag | undefined;
  #frames = 0;
  #frameBytes = 0;
  // Samples since the sample rate last changed.
  #samples = 0;
  #frameSamples = 0;
  // Duration before the last change of the sample rate.
  #earlierMs = 0;
  #sampleRate = 0;
  #rateBits = -1;

  constructor() {
    super(MARK_BYTES);
  }

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
      this.#skipFrame(length);
      this.#frames += 1;
      this.#samples += this.#frameSamples;
    }
  }

  finish(walker: Walker): Findings {
    const tag = this.#tag;
    const isWhole = tag?.frames === undefined || tag.frames === this.#frames;
    const padding = isWhole ? (tag?.delay ?? 0) + (tag?.padding ?? 0) : 0;
    const samples = Math.max(0, this.#samples - padding);
    const hasSound = this.#frames > 0 && this.#sampleRate > 0;
    return {
      durationMs: hasSound ? this.#earlierMs + (samples / this.#sampleRate) * 1000 : undefined,
      sampleRate: this.#first?.sampleRate,
      channels: this.#first?.channels,
      endIsProven: tag?.frames !== undefined,
      problem: this.#problemAtEnd(walker),
    };
  }

  #problemAtEnd(walker: Walker): string | undefined {
    if (this.skip > 0) return 'is cut: it ends inside a frame or a tag';
    if (walker.held.length > 0) {
      const [first = 0] = walker.held;
      const couldBeHeader = first === 0xff || first === 0x49 || first === 0x54 || first === 0x41;
      return couldBeHeader && this.begun
        ? 'is cut: it ends inside a header'
        : strayBytes(walker.position);
    }
    if (this.#frames === 0) return 'has no audio frame';
    const { frames, bytes } = this.#tag ?? {};
    // Some encoders also count the frame of the tag. If the tag has a byte count, that count decides.
    const lacksFrames =
      frames !== undefined && this.#frames < frames - (bytes === undefined ? 1 : 0);
    const lacksBytes = bytes === undefined || this.#frameBytes < bytes;
    return lacksFrames && lacksBytes
      ? `is cut: it has ${this.#frames} of ${frames} frames`
      : undefined;
  }

  #stepFirst(bytes: Uint8Array, at: number, length: number): void {
    const needed = Math.min(length, INFO_BYTES);
    this.begun = true;
    if (this.want < needed) {
      this.want = needed;
      return;
    }
    const frame = this.#changeRate(bytes, at);
    if (frame === undefined) return;
    this.#first = frame;
    this.#tag = readMp3InfoTag(bytes.subarray(at, at + needed), frame);
    this.#skipFrame(length);
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

  #skipFrame(length: number): void {
    this.advance(length, MARK_BYTES);
    this.#frameBytes += length;
  }

  #stepTag(bytes: Uint8Array, at: number, position: number): void {
    const needed = mp3TagHeadBytes(bytes, at);
    if (this.want < needed) {
      this.want = needed;
      return;
    }
    const length = mp3TagLength(bytes, at);
    if (length === 0) return this.stop(this.begun ? strayBytes(position) : 'is not mp3');
    this.begun = true;
    return this.advance(length, MARK_BYTES);
  }
}

// The version and sample rate, which are the same in all frames of most files.
function rateBitsOf(second: number, third: number): number {
  return ((second & 0x18) << 8) | (third & 0x0c);
}

function strayBytes(position: number): string {
  return `has bytes that are not mp3 at offset ${position}`;
}

/** The header of an MPEG audio layer III frame. */
export interface Mp3Frame {
  /** Length of the frame in bytes, including its header. */
  readonly length: number;
  /** Number of samples per channel. */
  readonly samples: number;
  readonly sampleRate: number;
  readonly channels: 1 | 2;
  /** Position of the Info tag in the frame, in bytes, if the frame has such a tag. */
  readonly infoOffset: number;
}

/**
 * Returns the length of a layer III frame in bytes. The parameters are the second and third byte of the frame header.
 * Returns 0 for other layers, AAC (ADTS), reserved values and the free format.
 */
export function mp3FrameLength(second: number, third: number): number {
  if ((second & 0xe6) !== 0xe2) return 0;
  const length = LENGTHS[(versionOf(second) << 6) | (third >> 2)] ?? 0;
  return length === 0 ? 0 : length + ((third >> 1) & 1);
}

/** Parses the MP3 frame header at index `at`. Returns undefined if there is no valid header. */
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

/** Returns the bit rate of the frame header at index `at`, in kbit/s; 0 for the free format. */
export function mp3BitRate(bytes: Uint8Array, at: number): number {
  const isMpeg1 = versionOf(bytes[at + 1] ?? 0) === MPEG_1;
  return (isMpeg1 ? BITRATES_1 : BITRATES_2)[(bytes[at + 2] ?? 0) >> 4] ?? 0;
}

const MPEG_1 = 3;
const MPEG_2 = 2;

// In kbit/s; 0 for the free format and reserved values.
const BITRATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0];
const BITRATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0];
const SAMPLE_RATES = [44_100, 48_000, 32_000, 0];

// Frame lengths without padding, by version, bit rate and sample rate; 0 for reserved values.
const LENGTHS = Uint16Array.from({ length: 256 }, (_, index) => {
  const second = (index >> 6) << 3;
  const third = (index & 0x3f) << 2;
  const isMpeg1 = versionOf(second) === MPEG_1;
  const bitrate = (isMpeg1 ? BITRATES_1 : BITRATES_2)[third >> 4] ?? 0;
  const sampleRate = sampleRateOf(second, third);
  return sampleRate === 0 ? 0 : Math.floor(((isMpeg1 ? 144 : 72) * bitrate * 1000) / sampleRate);
});

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

interface Mp3InfoTag {
  // Number of frames, not counting the frame of the tag; undefined for 0.
  readonly frames: number | undefined;
  // Total bytes of all frames, including the frame of the tag; undefined for 0.
  readonly bytes: number | undefined;
  readonly delay: number;
  readonly padding: number;
}

// Bytes from the start of a frame to the end of its Info tag, with the LAME extension.
const INFO_BYTES = 190;

/**
 * Reads the Info tag in the first frame of an MP3 file. Returns undefined if the frame has no Info tag.
 * @param bytes the beginning of the frame
 */
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
    const isPresent = (flags & flag) !== 0 && at + 4 <= bytes.length;
    counts.push(isPresent ? view.getUint32(at) || undefined : undefined);
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

const FIELDS = [
  [1, 4],
  [2, 4],
  [4, 100],
  [8, 4],
] as const;

/** Number of bytes needed to recognize a frame header or a tag. */
export const MARK_BYTES = 4;

/** Returns the number of bytes from index `at` that {@link mp3TagLength} needs. */
export function mp3TagHeadBytes(bytes: Uint8Array, at: number): number {
  const mark = markAt(bytes, at);
  if (mark === 'APET') return APE_BYTES;
  return mark.startsWith('ID3') ? ID3_BYTES : MARK_BYTES;
}

/** Returns the length of the ID3v2, ID3v1 or APEv2 tag at index `at`; 0 if there is no such tag. */
export function mp3TagLength(bytes: Uint8Array, at: number): number {
  const mark = markAt(bytes, at);
  if (mark.startsWith('ID3')) return id3TagLength(bytes, at) ?? 0;
  if (mark.startsWith('TAG')) return ID3V1_BYTES;
  if (Buffer.from(bytes.subarray(at, at + 8)).toString('latin1') !== 'APETAGEX') return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, APE_BYTES);
  const isHeader = (view.getUint32(20, true) & 0x2000_0000) !== 0;
  // The size field excludes the header. A footer whose tag has no header is not accepted here.
  return isHeader ? APE_BYTES + view.getUint32(12, true) : 0;
}

const ID3_BYTES = 10;
const ID3V1_BYTES = 128;
const APE_BYTES = 32;

function markAt(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.subarray(at, at + MARK_BYTES)).toString('latin1');
}

/**
 * Returns the length in bytes, including header and footer, of the ID3v2 tag at index `at`. Returns 0 for an invalid
 * header, and undefined for an incomplete one.
 */
export function id3TagLength(bytes: Uint8Array, at: number): number | undefined {
  if (at + 10 > bytes.length) return undefined;
  const [major = 0, revision = 0, flags = 0, ...size] = bytes.subarray(at + 3, at + 10);
  if (major === 0xff || revision === 0xff || size.some((byte) => byte >= 0x80)) return 0;
  const content = size.reduce((sum, byte) => sum * 128 + byte, 0);
  return 10 + content + ((flags & 0x10) === 0 ? 0 : 10);
}

interface Mp3Contents {
  readonly frames: number;
  readonly audioBytes: number;
  readonly checksum: number;
  readonly kilobitsPerSecond: number | undefined;
  readonly added: { readonly delay: number; readonly padding: number } | undefined;
  // For each hundredth of the duration, the position in the audio, from 0 to 1; default: evenly spaced.
  readonly seekTable?: readonly number[] | undefined;
}

// Decoders apply delay and padding only for encoders that they know.
const ENCODER = 'LAME3.100';

const ALL_FIELDS = 0x0f;
const CONSTANT_BITRATE = 1;
const VARIABLE_BITRATE = 3;
const TAG_BYTES = 156;
const LARGEST_ADDED = 0xfff;

/**
 * Returns a silent MP3 frame that is large enough for an Info tag.
 * @param header the header of another frame (four bytes), which is copied. If the bit rate is too low for the tag, the
 * new frame gets a higher bit rate.
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
  throw new TypeError('The header is not an mp3 frame header.');
}

/**
 * Returns a silent MP3 frame that uses no data of other frames (bit reservoir).
 * @param header the header of another frame, which is copied
 */
export function silentMp3Frame(header: Uint8Array): Uint8Array {
  const plain = header.slice(0, 4);
  // No checksum, no padding, no joint stereo. The rest is 0: no data of a sound.
  plain[1] = (plain[1] ?? 0) | 1;
  plain[2] = (plain[2] ?? 0) & 0xfd;
  plain[3] = (plain[3] ?? 0) & 0xcf;
  const bytes = new Uint8Array(parseMp3Frame(plain, 0)?.length ?? 0);
  bytes.set(plain);
  return bytes;
}

/** Copies a frame from {@link emptyMp3Frame} and writes an Info tag with the LAME extension into the copy. */
export function writeMp3InfoTag(frame: Uint8Array, contents: Mp3Contents): Uint8Array {
  const parsed = parseMp3Frame(frame, 0);
  if (parsed === undefined) throw new TypeError('The frame is not an mp3 frame.');
  const bytes = frame.slice();
  const view = new DataView(bytes.buffer);
  const start = parsed.infoOffset;
  const fileBytes = bytes.length + contents.audioBytes;
  const isConstant = contents.kilobitsPerSecond !== undefined;
  bytes.set(Buffer.from(isConstant ? 'Info' : 'Xing'), start);
  view.setUint32(start + 4, ALL_FIELDS);
  view.setUint32(start + 8, contents.frames);
  view.setUint32(start + 12, fileBytes);
  for (let part = 0; part < 100; part += 1) {
    bytes[start + 16 + part] = Math.min(255, (contents.seekTable?.[part] ?? part / 100) * 256);
  }
  if (contents.added === undefined) return bytes;
  const { delay, padding } = contents.added;
  const lame = start + 120;
  const rate = Math.min(255, contents.kilobitsPerSecond ?? 0);
  bytes.set(Buffer.from(ENCODER), lame);
  bytes[lame + 9] = isConstant ? CONSTANT_BITRATE : VARIABLE_BITRATE;
  view.setUint8(lame + 20, rate);
  const added = (Math.min(LARGEST_ADDED, delay) << 12) | Math.min(LARGEST_ADDED, padding);
  view.setUint8(lame + 21, added >>> 16);
  view.setUint16(lame + 22, added & 0xffff);
  view.setUint32(lame + 28, fileBytes);
  view.setUint16(lame + 32, contents.checksum);
  view.setUint16(lame + 34, crc16(bytes.subarray(0, lame + 34)));
  return bytes;
}

/**
 * Computes the CRC-16 of a LAME tag (polynomial 0x8005, reflected). `before` is the CRC of the bytes before `bytes`.
 */
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
