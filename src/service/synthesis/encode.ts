import type { AudioFormat } from '../../contract/audio-formats.ts';
import type { RealtimeFormat } from '../../contract/realtime/protocols.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';

export interface EncodeOptions {
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
