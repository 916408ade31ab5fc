import { mediaTypeOf } from '../../audio/formats.ts';
import type { AudioFormat } from '../../contract/values.ts';
import type { RealtimeFormat } from '../../contract/realtime/protocols.ts';
import { PCM_SAMPLE_RATE } from '../engine/encode/pcm.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';

interface EncodeOptions {
  /** Change of the audio level in decibels. */
  readonly gainDb: number;
  /** Serial number, from 1, that distinguishes Opus streams that clients concatenate. */
  readonly streamNumber?: number | undefined;
}

export type EncodedFormat = AudioFormat | RealtimeFormat;

/** Encodes speech while it is spoken. */
export type EncodeSpeech = (
  format: EncodedFormat,
  chunks: AsyncIterable<SpeechChunk>,
  options: EncodeOptions,
) => AsyncIterable<Uint8Array>;

/** Returns the media type of an audio format; for raw samples with sample rate and channels. */
export function speechMediaType(format: EncodedFormat): string {
  const type = mediaTypeOf(format);
  return format === 'pcm' ? `${type};rate=${PCM_SAMPLE_RATE};channels=1` : type;
}
