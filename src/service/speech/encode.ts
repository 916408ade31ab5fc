import { mediaTypeOf } from '../../audio/formats.ts';
import type { AudioFormat } from '../../contract/values.ts';
import type { RealtimeFormat } from '../../contract/realtime/protocols.ts';
import { PCM_SAMPLE_RATE } from '../../audio/encode/pcm.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';

interface GainOptions {
  /** Change of the audio level in decibels. */
  readonly gainDb: number;
  /** Serial number, from 1, of an Opus stream. It distinguishes streams that clients concatenate. */
  readonly streamNumber?: number | undefined;
}

export type EncodedFormat = AudioFormat | RealtimeFormat;

/** Encodes speech while the engine is still speaking. */
export type EncodeSpeech = (
  format: EncodedFormat,
  chunks: AsyncIterable<SpeechChunk>,
  options: GainOptions,
) => AsyncIterable<Uint8Array>;

/** Returns the media type of an audio format. For raw samples, the type states sample rate and channel count. */
export function speechMediaType(format: EncodedFormat): string {
  const type = mediaTypeOf(format);
  return format === 'pcm' ? `${type};rate=${PCM_SAMPLE_RATE};channels=1` : type;
}
