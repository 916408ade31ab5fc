import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import type { DecodedSound } from './sound.ts';
import { UnusableAudioError } from './sound.ts';

// Decoding needs memory for a block of frames at a time.
const FRAMES_IN_BLOCK = 1_000;
// Number of samples in a frame; twice as many in HE-AAC.
const FRAME_SAMPLES = 1_024;
// The decoder starts anew with each block. Frames before the block give it the state that the block continues.
const FRAMES_BEFORE_BLOCK = 16;

/**
 * Decodes AAC audio (LC, HE and HE v2).
 * @param frames AAC frames with their ADTS headers
 * @throws UnusableAudioError for frames that cannot be decoded
 */
export async function* decodeAac(frames: AsyncIterable<Uint8Array>): AsyncGenerator<DecodedSound> {
  let block: Uint8Array[] = [];
  let known = 0;
  for await (const frame of frames) {
    block.push(frame);
    if (block.length - known < FRAMES_IN_BLOCK) continue;
    yield await decodeBlock(block, known);
    known = FRAMES_BEFORE_BLOCK;
    block = block.slice(-known);
  }
  if (block.length > known) yield await decodeBlock(block, known);
}

async function decodeBlock(frames: readonly Uint8Array[], known: number): Promise<DecodedSound> {
  const [{ getAudioDecoder }, wasm] = await Promise.all([import('audio-file-decoder'), loadWasm()]);
  // The decoder drops the sound of the first frame, so a copy of it precedes.
  const bytes = new Uint8Array(Buffer.concat([...frames.slice(0, 1), ...frames]));
  try {
    const decoder = await getAudioDecoder(wasm, bytes.buffer);
    const { channelCount: count, sampleRate } = decoder;
    const samples = decoder.decodeAudioData(0, -1, { multiChannel: true });
    decoder.dispose();
    const isDoubled = samples.length / count > frames.length * FRAME_SAMPLES * 1.5;
    const perFrame = isDoubled ? FRAME_SAMPLES * 2 : FRAME_SAMPLES;
    const first = known * perFrame;
    const end = Math.min(frames.length * perFrame, samples.length / count);
    const channels = Array.from({ length: count }, (_, channel) => {
      const plane = new Float32Array(Math.max(0, end - first));
      for (let index = 0; index < plane.length; index += 1) {
        plane[index] = samples[(first + index) * count + channel] ?? 0;
      }
      return plane;
    });
    return { channels, sampleRate };
  } catch (error) {
    throw new UnusableAudioError('has AAC audio that cannot be decoded', { cause: error });
  }
}

let loading: Promise<string> | undefined;

function loadWasm(): Promise<string> {
  loading ??= (async () => {
    const file = createRequire(import.meta.url).resolve('audio-file-decoder/decode-audio.wasm');
    const bytes = await readFile(file);
    const wasm = file.endsWith('.br') ? await promisify(brotliDecompress)(bytes) : bytes;
    // The decoder fetches its code from this address.
    return `data:application/wasm;base64,${wasm.toString('base64')}`;
  })();
  return loading;
}

const SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
] as const;
const ADTS_HEADER_BYTES = 7;
// The object types of ISO/IEC 14496-3.
const HE_AAC = 5;
const HE_AAC_V2 = 29;
const ADTS_PROFILES = 4;

/**
 * Returns a function that puts an ADTS header before an AAC frame (ISO/IEC 14496-3, 1.A.2).
 * @param config the AudioSpecificConfig of the track
 * @throws UnusableAudioError for kinds of AAC that ADTS cannot contain, such as AAC-LD and xHE-AAC
 */
export function adtsWriter(config: Uint8Array): (frame: Uint8Array) => Uint8Array {
  const read = bitReader(config);
  let type = read(5);
  const rate = readRate(read);
  const channels = read(4);
  if (type === HE_AAC || type === HE_AAC_V2) {
    // The second sample rate is that of the whole sound, and then the type of the core follows.
    readRate(read);
    type = read(5);
  }
  if (type < 1 || type > ADTS_PROFILES || rate === -1 || channels > 7) {
    throw new UnusableAudioError('has an unsupported kind of AAC audio; use AAC-LC or HE-AAC');
  }
  return (frame) => {
    const length = frame.length + ADTS_HEADER_BYTES;
    const bytes = new Uint8Array(length);
    bytes.set([
      0xff,
      0xf1,
      ((type - 1) << 6) | (rate << 2) | (channels >> 2),
      ((channels & 3) << 6) | ((length >> 11) & 3),
      (length >> 3) & 0xff,
      ((length & 7) << 5) | 0x1f,
      0xfc,
    ]);
    bytes.set(frame, ADTS_HEADER_BYTES);
    return bytes;
  };
}

type BitReader = (bits: number) => number;

function bitReader(bytes: Uint8Array): BitReader {
  let at = 0;
  return (bits) => {
    let value = 0;
    for (const end = at + bits; at < end; at += 1) {
      value = value * 2 + (((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1);
    }
    return value;
  };
}

// Returns the index of the sample rate; -1 for a sample rate without an index.
function readRate(read: BitReader): number {
  const index = read(4);
  if (index < SAMPLE_RATES.length) return index;
  const hertz = index === 15 ? read(24) : 0;
  return SAMPLE_RATES.findIndex((rate) => rate === hertz);
}
