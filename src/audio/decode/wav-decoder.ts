import type { DecodedSound, SoundDecoder } from './sound-decoder.ts';
import { NO_SOUND } from './sound-decoder.ts';

/** How the samples of a WAV file are written. */
interface WavLayout {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSample: number;
  read(view: DataView, offset: number): number;
}

/** Where the samples of a WAV file are. */
export interface WavSamples {
  readonly layout: WavLayout;
  readonly start: number;
  /** The first byte after them, as the header says. */
  readonly end: number;
}

const PIECE_BYTES = 64 * 1024;

/**
 * Finds the samples of a WAV file that is known to hold together.
 * @param head enough of the file to have its format and the beginning of its samples
 * @returns nothing where that is not there, or the samples are coded in a way that is not known here
 */
export function findWavSamples(head: Uint8Array): WavSamples | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  let layout: WavLayout | undefined;
  for (let at = RIFF_BYTES; at + CHUNK_HEADER_BYTES <= head.length;) {
    const name = Buffer.from(head.subarray(at, at + 4)).toString('latin1');
    const size = view.getUint32(at + 4, true);
    const start = at + CHUNK_HEADER_BYTES;
    if (name === 'fmt ' && start + size <= head.length) layout = layoutOf(view, start, size);
    if (name === 'data') {
      const end = size === 0 || size >= UNKNOWN_FROM ? Infinity : start + size;
      return layout === undefined ? undefined : { layout, start, end };
    }
    at = start + size + (size % 2);
  }
  return undefined;
}

/** Decodes the bytes of the samples. */
export function createWavDecoder({ layout }: WavSamples): SoundDecoder {
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
        // A loop, as a recording has millions of samples and a callback for each takes seconds.
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

const RIFF_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** From here on a length is what writers put down when they cannot know it. */
const UNKNOWN_FROM = 0x7fff_0000;

const INTEGERS = 1;
const FLOATS = 3;
const EXTENSIBLE = 0xfffe;
/** Where the true format is behind an extensible one. */
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

/** By kind and bytes of a sample. */
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
]);
