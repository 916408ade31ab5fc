import { mediaTypeOf } from '../../audio/formats.ts';
import type { AudioFormat } from '../../contract/values.ts';
import type { RealtimeFormat } from '../../contract/realtime/protocols.ts';
import { PCM_SAMPLE_RATE } from '../engine/encode/pcm.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';

interface EncodeOptions {
  /** Change of level in decibels. */
  readonly gainDb: number;
  /** Distinguishes Opus streams that are joined; from 1. */
  readonly streamNumber?: number | undefined;
}

/** Formats of speech over HTTP and in real time. */
export type EncodedFormat = AudioFormat | RealtimeFormat;

/** Encodes speech as a file of the format while it is spoken. */
export type EncodeSpeech = (
  format: EncodedFormat,
  chunks: AsyncIterable<SpeechChunk>,
  options: EncodeOptions,
) => AsyncIterable<Uint8Array>;

/** Returns the media type of audio, with rate and channels for raw samples. */
export function speechMediaType(format: EncodedFormat): string {
  const type = mediaTypeOf(format);
  return format === 'pcm' ? `${type};rate=${PCM_SAMPLE_RATE};channels=1` : type;
}
