import { mediaTypeOf } from '../../audio/formats.ts';
import type { AudioFormat } from '../../contract/values.ts';
import type { RealtimeFormat } from '../../contract/realtime/protocols.ts';
import { PCM_SAMPLE_RATE } from '../engine/encode/pcm.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';

interface EncodeOptions {
  /** Change of level in decibels. */
  readonly gainDb: number;
  /** Tells streams of Opus apart that are to be joined; from 1. */
  readonly streamNumber?: number | undefined;
}

/** What speech can be encoded as: the formats of HTTP and those of realtime. */
export type EncodedFormat = AudioFormat | RealtimeFormat;

/** Turns speech into a file of the format, bytes leaving as soon as there are any. */
export type EncodeSpeech = (
  format: EncodedFormat,
  chunks: AsyncIterable<SpeechChunk>,
  options: EncodeOptions,
) => AsyncIterable<Uint8Array>;

/** The media type of audio; that of raw samples also says how they are to be read. */
export function speechMediaType(format: EncodedFormat): string {
  const type = mediaTypeOf(format);
  return format === 'pcm' ? `${type};rate=${PCM_SAMPLE_RATE};channels=1` : type;
}
