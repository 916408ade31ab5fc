import type { AudioFormat } from '../../contract/audio-formats.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';

export interface EncodeOptions {
  /** Change of level in decibels. */
  readonly gainDb: number;
}

/** Turns speech into a file of the format, bytes leaving as soon as there are any. */
export type EncodeSpeech = (
  format: AudioFormat,
  chunks: AsyncIterable<SpeechChunk>,
  options: EncodeOptions,
) => AsyncIterable<Uint8Array>;
