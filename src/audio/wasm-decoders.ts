import { tagAt } from './reader.ts';
import type { DecodedSound, OpenFile, SoundDecoder } from './sound.ts';
import { fileHead, NO_SOUND } from './sound.ts';

// Decoded MP3 samples need at most 60 times as much memory as the piece.
const MP3_PIECE_BYTES = 16 * 1024;
// In the other formats, a few bytes can contain a second of silence.
const PACKED_PIECE_BYTES = 1024;

interface WasmDecoder {
  readonly ready: Promise<unknown>;
  decode(piece: Uint8Array): WasmSound | Promise<WasmSound>;
  flush?(): Promise<WasmSound>;
  free(): void;
}

interface WasmSound {
  readonly channelData: readonly Float32Array[];
  readonly errors: readonly unknown[];
  readonly sampleRate: number;
}

async function wrapDecoder(decoder: WasmDecoder, pieceBytes: number): Promise<SoundDecoder> {
  await decoder.ready;
  return {
    pieceBytes,
    decode: async (piece) => soundOf(await decoder.decode(piece)),
    finish: async () => (decoder.flush === undefined ? NO_SOUND : soundOf(await decoder.flush())),
    close: () => decoder.free(),
  };
}

function soundOf({ channelData, errors, sampleRate }: WasmSound): DecodedSound {
  return { channels: channelData, sampleRate, isDamaged: errors.length > 0 };
}

/** Creates a decoder for MPEG audio: layers I, II and III. */
export async function createMp3Decoder(): Promise<SoundDecoder> {
  const { MPEGDecoder } = await import('mpg123-decoder');
  return wrapDecoder(new MPEGDecoder(), MP3_PIECE_BYTES);
}

/** Creates a decoder for Vorbis audio in an Ogg file. */
export async function createVorbisDecoder(): Promise<SoundDecoder> {
  const { OggVorbisDecoder } = await import('@wasm-audio-decoders/ogg-vorbis');
  return wrapDecoder(new OggVorbisDecoder(), PACKED_PIECE_BYTES);
}

/** Creates a decoder for Opus audio in an Ogg file. It returns two channels, and ignores the output gain. */
export async function createOpusDecoder(): Promise<SoundDecoder> {
  const { OggOpusDecoder } = await import('ogg-opus-decoder');
  return wrapDecoder(new OggOpusDecoder({ forceStereo: true }), PACKED_PIECE_BYTES);
}

// Added after a FLAC file; without these zeros, the decoder drops a short last frame.
const FLAC_TAIL = new Uint8Array(64);

/** Creates a decoder for FLAC audio, in a FLAC or an Ogg file. */
export async function createFlacDecoder(): Promise<SoundDecoder> {
  const { FLACDecoder } = await import('@wasm-audio-decoders/flac');
  const decoder = await wrapDecoder(new FLACDecoder(), PACKED_PIECE_BYTES);
  return {
    ...decoder,
    async finish() {
      const rest = await decoder.decode(FLAC_TAIL);
      return concatenate(rest, await decoder.finish());
    },
  };
}

function concatenate(one: DecodedSound, other: DecodedSound): DecodedSound {
  const length = one.channels[0]?.length ?? 0;
  const otherLength = other.channels[0]?.length ?? 0;
  const isDamaged = one.isDamaged === true || other.isDamaged === true;
  if (length === 0) return { ...other, isDamaged };
  if (otherLength === 0) return { ...one, isDamaged };
  const channels = one.channels.map((samples, channel) => {
    const whole = new Float32Array(length + otherLength);
    whole.set(samples);
    whole.set(other.channels[channel] ?? [], length);
    return whole;
  });
  return { channels, sampleRate: one.sampleRate, isDamaged };
}

const FLAC_HEAD_BYTES = 42;
const RATE_OFFSET = 18;

/** Returns the duration of a FLAC file in seconds; undefined if the file header does not state it. */
export function readFlacLength(file: OpenFile): number | undefined {
  const head = fileHead(file, FLAC_HEAD_BYTES);
  if (head.length < FLAC_HEAD_BYTES || tagAt(head, 0) !== 'fLaC') return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  // The fields are: 20 bits of sample rate, 3 of channels, 5 of sample size, 36 of sample count.
  const sampleRate = view.getUint32(RATE_OFFSET) >>> 12;
  const samples =
    (view.getUint8(RATE_OFFSET + 3) & 0x0f) * 2 ** 32 + view.getUint32(RATE_OFFSET + 4);
  return sampleRate === 0 || samples === 0 ? undefined : samples / sampleRate;
}
