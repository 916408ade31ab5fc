import type { DecodedSound, SoundDecoder } from './sound-decoder.ts';
import { NO_SOUND } from './sound-decoder.ts';

/** What the WebAssembly decoders give. */
interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly sampleRate: number;
}

/** mp3 makes at most 60 times as many bytes of samples. */
const MP3_PIECE_BYTES = 16 * 1024;
/** Silence may be coded in a few bytes for a tenth of a second and more. */
const PACKED_PIECE_BYTES = 1024;

/** Decodes MPEG audio, layers 1 to 3. */
export async function createMp3Decoder(): Promise<SoundDecoder> {
  const { MPEGDecoder } = await import('mpg123-decoder');
  const decoder = new MPEGDecoder();
  await decoder.ready;
  return {
    pieceBytes: MP3_PIECE_BYTES,
    decode: async (piece) => soundOf(decoder.decode(piece)),
    finish: async () => NO_SOUND,
    close: () => decoder.free(),
  };
}

/** Decodes Vorbis in Ogg. */
export async function createVorbisDecoder(): Promise<SoundDecoder> {
  const { OggVorbisDecoder } = await import('@wasm-audio-decoders/ogg-vorbis');
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  return {
    pieceBytes: PACKED_PIECE_BYTES,
    decode: async (piece) => soundOf(await decoder.decode(piece)),
    finish: async () => soundOf(await decoder.flush()),
    close: () => decoder.free(),
  };
}

/** Decodes Opus in Ogg. */
export async function createOpusDecoder(): Promise<SoundDecoder> {
  const { OggOpusDecoder } = await import('ogg-opus-decoder');
  const decoder = new OggOpusDecoder({ forceStereo: true });
  await decoder.ready;
  return {
    pieceBytes: PACKED_PIECE_BYTES,
    decode: async (piece) => soundOf(await Promise.resolve(decoder.decode(piece))),
    finish: async () => soundOf(await decoder.flush()),
    close: () => decoder.free(),
  };
}

/**
 * To be given to the decoder of FLAC behind the last byte: a last frame of a few bytes, which is silence, is
 * taken for the beginning of one otherwise, and left out.
 */
export const FLAC_TAIL: Uint8Array = new Uint8Array(64);

/** Decodes FLAC, by itself or in Ogg. */
export async function createFlacDecoder(): Promise<SoundDecoder> {
  const { FLACDecoder } = await import('@wasm-audio-decoders/flac');
  const decoder = new FLACDecoder();
  await decoder.ready;
  return {
    pieceBytes: PACKED_PIECE_BYTES,
    decode: async (piece) => soundOf(await decoder.decode(piece)),
    async finish() {
      const rest = soundOf(await decoder.decode(FLAC_TAIL));
      return joined(rest, soundOf(await decoder.flush()));
    },
    close: () => decoder.free(),
  };
}

/** One after the other; either may be nothing. */
function joined(one: DecodedSound, other: DecodedSound): DecodedSound {
  if (lengthOf(one) === 0) return other;
  if (lengthOf(other) === 0) return one;
  const channels = one.channels.map((samples, channel) => {
    const whole = new Float32Array(lengthOf(one) + lengthOf(other));
    whole.set(samples);
    whole.set(other.channels[channel] ?? [], samples.length);
    return whole;
  });
  return { channels, sampleRate: one.sampleRate };
}

function lengthOf({ channels: [first] }: DecodedSound): number {
  return first?.length ?? 0;
}

function soundOf({ channelData, sampleRate }: Decoded): DecodedSound {
  return { channels: channelData, sampleRate };
}
