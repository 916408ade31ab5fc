import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import { MPEGDecoder } from 'mpg123-decoder';
import { OggOpusDecoder } from 'ogg-opus-decoder';
import { mp3Frames } from './mp3-frames.ts';
import { readWav } from './wav.ts';

export interface DecodedAudio {
  readonly format: AudioFormat;
  readonly sampleRate: number;
  readonly channels: readonly Float32Array[];
  readonly durationMs: number;
}

export type AudioFormat = 'mp3' | 'ogg' | 'opus' | 'wav';

/**
 * Decodes a whole mp3, ogg vorbis, ogg opus or wav file, recognized by its first bytes. Throws when it is none of
 * them, when the decoder finds any fault, or when there is no sample in it.
 */
export async function decodeAudio(bytes: Uint8Array): Promise<DecodedAudio> {
  const format = formatOf(bytes);
  const { sampleRate, channels } = await decode(bytes, format);
  const frames = channels[0]?.length ?? 0;
  if (frames === 0 || sampleRate === 0) {
    throw new Error(`The ${format} of ${bytes.byteLength} bytes has no sample in it.`);
  }
  return { format, sampleRate, channels, durationMs: (frames / sampleRate) * 1000 };
}

/** The loudness of the whole, as the root mean square in dB below full scale; -Infinity is silence. */
export function loudness(audio: DecodedAudio): number {
  const samples = audio.channels.reduce((sum, { length }) => sum + length, 0);
  const energy = audio.channels.reduce(
    (total, channel) => channel.reduce((sum, sample) => sum + sample * sample, total),
    0,
  );
  return 10 * Math.log10(energy / samples);
}

/** The largest sample, from 0 to 1. */
export function peak(audio: DecodedAudio): number {
  return audio.channels.reduce(
    (most, channel) =>
      channel.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), most),
    0,
  );
}

/** Whether the audio is silent: no sample above -60 dB of full scale. */
export function isSilent(audio: DecodedAudio): boolean {
  return peak(audio) < 0.001;
}

function formatOf(bytes: Uint8Array): AudioFormat {
  const start = Buffer.from(bytes.subarray(0, 4)).toString('latin1');
  const [first = 0, second = 0] = bytes;
  if (start === 'RIFF') {
    return 'wav';
  }
  if (start === 'OggS') {
    return Buffer.from(bytes.subarray(28, 36)).toString('latin1') === 'OpusHead' ? 'opus' : 'ogg';
  }
  if (start.startsWith('ID3') || (first === 0xff && (second & 0xe6) === 0xe2)) {
    return 'mp3';
  }
  throw new Error(`Not audio; it begins with ${JSON.stringify(start)}.`);
}

async function decode(
  bytes: Uint8Array,
  format: AudioFormat,
): Promise<{ sampleRate: number; channels: readonly Float32Array[] }> {
  if (format === 'wav') {
    return readWav(bytes);
  }
  if (format === 'mp3') {
    mp3Frames(bytes);
  }
  const decoder = DECODERS[format]();
  await decoder.ready;
  try {
    const audio =
      decoder instanceof MPEGDecoder ? decoder.decode(bytes) : await decoder.decodeFile(bytes);
    if (audio.errors.length > 0) {
      throw new Error(`The ${format} does not decode cleanly: ${JSON.stringify(audio.errors)}`);
    }
    return { sampleRate: audio.sampleRate, channels: audio.channelData };
  } finally {
    decoder.free();
  }
}

const DECODERS = {
  mp3: () => new MPEGDecoder(),
  ogg: () => new OggVorbisDecoder(),
  opus: () => new OggOpusDecoder(),
} as const;
