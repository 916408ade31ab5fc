import { tagAt } from './reader.ts';
import type { DecodedSound, SoundDecoder } from './sound.ts';
import { NO_SOUND } from './sound.ts';
import { CHUNK_HEAD_BYTES, RIFF_BYTES, isUnknownWavLength } from './wav.ts';

const PIECE_BYTES = 64 * 1024;

/** How the samples of a WAV file are encoded. */
export interface WavLayout {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSample: number;
  read(view: DataView, offset: number): number;
}

/** Where the samples of a WAV file are, and how to read them. */
export interface WavSamples {
  readonly layout: WavLayout;
  /** The range of bytes with samples: from `start` up to but not including `end`, which is infinite if unknown. */
  readonly start: number;
  readonly end: number;
}

/** Finds the samples of a WAV file. Returns undefined for samples in an unsupported encoding. */
export function findWavSamples(head: Uint8Array): WavSamples | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  let layout: WavLayout | undefined;
  for (let at = RIFF_BYTES; at + CHUNK_HEAD_BYTES <= head.length;) {
    const name = tagAt(head, at);
    const size = view.getUint32(at + 4, true);
    const start = at + CHUNK_HEAD_BYTES;
    if (name === 'fmt ' && start + size <= head.length) layout = layoutOf(view, start, size);
    if (name === 'data') {
      const end = isUnknownWavLength(size) ? Infinity : start + size;
      return layout === undefined ? undefined : { layout, start, end };
    }
    at = start + size + (size % 2);
  }
  return undefined;
}

/** Creates a decoder for the samples of a WAV file. */
export function createWavDecoder(layout: WavLayout): SoundDecoder {
  const { channels: count, bytesPerSample, sampleRate } = layout;
  const blockBytes = count * bytesPerSample;
  let rest = Buffer.alloc(0);
  return {
    pieceBytes: PIECE_BYTES,
    async decode(piece): Promise<DecodedSound> {
      const bytes = Buffer.concat([rest, piece]);
      const blocks = Math.floor(bytes.length / blockBytes);
      rest = Buffer.from(bytes.subarray(blocks * blockBytes));
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const channels = Array.from({ length: count }, (_, channel) => {
        // A plain loop, because calling a function for every sample would take seconds.
        const samples = new Float32Array(blocks);
        for (let block = 0; block < blocks; block += 1) {
          samples[block] = layout.read(view, block * blockBytes + channel * bytesPerSample);
        }
        return samples;
      });
      return { channels, sampleRate };
    },
    finish: async () => NO_SOUND,
    close: () => undefined,
  };
}

const INTEGERS = 1;
const FLOATS = 3;
const A_LAW = 6;
const MU_LAW = 7;
const EXTENSIBLE = 0xfffe;
const SUBFORMAT_OFFSET = 24;

function layoutOf(view: DataView, at: number, size: number): WavLayout | undefined {
  const tag = view.getUint16(at, true);
  const isExtensible = tag === EXTENSIBLE && size >= SUBFORMAT_OFFSET + 2;
  const kind = isExtensible ? view.getUint16(at + SUBFORMAT_OFFSET, true) : tag;
  const channels = view.getUint16(at + 2, true);
  const sampleRate = view.getUint32(at + 4, true);
  const bytesPerSample = view.getUint16(at + 14, true) / 8;
  const read = READERS.get(`${kind}:${bytesPerSample}`);
  if (read === undefined || channels === 0 || sampleRate === 0) return undefined;
  if (view.getUint16(at + 12, true) !== channels * bytesPerSample) return undefined;
  return { channels, sampleRate, bytesPerSample, read };
}

const READERS = new Map<string, WavLayout['read']>([
  [`${INTEGERS}:1`, (view, offset) => (view.getUint8(offset) - 128) / 128],
  [`${INTEGERS}:2`, (view, offset) => view.getInt16(offset, true) / 0x8000],
  [
    `${INTEGERS}:3`,
    (view, offset) =>
      (view.getInt8(offset + 2) * 0x1_0000 + view.getUint16(offset, true)) / 0x80_0000,
  ],
  [`${INTEGERS}:4`, (view, offset) => view.getInt32(offset, true) / 0x8000_0000],
  [`${FLOATS}:4`, (view, offset) => view.getFloat32(offset, true)],
  [`${FLOATS}:8`, (view, offset) => view.getFloat64(offset, true)],
  [`${A_LAW}:1`, (view, offset) => expandALaw(view.getUint8(offset))],
  [`${MU_LAW}:1`, (view, offset) => expandMuLaw(view.getUint8(offset))],
]);

// The telephone encodings of ITU-R G.711: a sign bit, 3 bits of exponent and 4 bits of mantissa.

// In A-law, every second bit is inverted. The steps have 13 bits.
function expandALaw(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const step = ((bits & 15) << 1) + 1;
  const size = exponent === 0 ? step : (step + 32) << (exponent - 1);
  return ((bits & 0x80) === 0 ? -size : size) / 4096;
}

// In mu-law, all bits are inverted. The steps have 14 bits, and 33 of them are added before encoding.
function expandMuLaw(code: number): number {
  const bits = ~code;
  const size = ((((bits & 15) << 1) + 33) << ((bits >> 4) & 7)) - 33;
  return ((bits & 0x80) === 0 ? size : -size) / 8192;
}
