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
