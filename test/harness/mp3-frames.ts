export interface Mp3Frame {
  /** Where it begins in the file. */
  readonly offset: number;
  readonly length: number;
  readonly sampleRate: number;
  readonly samples: number;
}

const BITRATES_MPEG1 = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_MPEG2 = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLE_RATES = [44_100, 48_000, 32_000];

/**
 * Walks an mp3 frame by frame, strictly: after an ID3 tag there is nothing but whole layer III
 * frames of one sample rate. Decoders skip rubbish silently, so they cannot check this.
 */
export function mp3Frames(bytes: Uint8Array): Mp3Frame[] {
  const frames: Mp3Frame[] = [];
  let offset = tagLength(bytes);
  while (offset < bytes.byteLength) {
    const frame = frameAt(bytes, offset);
    const expected = frames[0] ?? frame;
    if (frame === undefined || expected?.sampleRate !== frame.sampleRate) {
      throw new Error(`The mp3 does not decode cleanly: no frame at byte ${offset}.`);
    }
    offset += frame.length;
    if (offset > bytes.byteLength) {
      throw new Error(`The mp3 does not decode cleanly: its last frame is cut.`);
    }
    frames.push(frame);
  }
  return frames;
}

function tagLength(bytes: Uint8Array): number {
  if (Buffer.from(bytes.subarray(0, 3)).toString('latin1') !== 'ID3') {
    return 0;
  }
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(6, 10);
  return 10 + ((a << 21) | (b << 14) | (c << 7) | d);
}

function frameAt(bytes: Uint8Array, offset: number): Mp3Frame | undefined {
  const [sync = 0, version = 0, rates = 0] = bytes.subarray(offset, offset + 3);
  const isLayer3 = sync === 0xff && (version & 0xe6) === 0xe2;
  // 3 is MPEG 1, 2 is MPEG 2, 0 is MPEG 2.5; each halves the sample rate of the one before.
  const shift = { 3: 0, 2: 1, 0: 2 }[(version >> 3) & 3];
  const baseRate = SAMPLE_RATES[(rates >> 2) & 3];
  const bitrates = shift === 0 ? BITRATES_MPEG1 : BITRATES_MPEG2;
  const bitrate = bitrates[(rates >> 4) - 1];
  if (!isLayer3 || shift === undefined || baseRate === undefined || bitrate === undefined) {
    return undefined;
  }
  const sampleRate = baseRate >> shift;
  const samples = shift === 0 ? 1152 : 576;
  const padding = (rates >> 1) & 1;
  const length = Math.floor((samples / 8) * ((bitrate * 1000) / sampleRate)) + padding;
  return { offset, length, sampleRate, samples };
}
