import type { SpeechFormat } from '../../contract/schemas/speech.ts';
import type { Output } from '../../files/output.ts';
import type { SpeechLength } from '../engine/encode/file-head.ts';
import { openFileHead } from '../engine/encode/file-head.ts';
import { type SpeechChunk, SpeechLimit } from '../engine/speech-engine.ts';
import type { EncodeSpeech } from '../synthesis/encode.ts';

export interface SpeechWriting {
  readonly output: Output;
  readonly encode: EncodeSpeech;
  readonly format: SpeechFormat;
  /** Change of level in decibels. */
  readonly gainDb: number;
}

/**
 * Writes speech as a whole file that tells its exact length, and publishes it. What fails on the way
 * throws, also speech beyond its limit, with nothing published; the output is the caller's to abandon then.
 */
export async function writeSpeech(
  { output, encode, format, gainDb }: SpeechWriting,
  chunks: AsyncIterable<SpeechChunk>,
): Promise<SpeechLength> {
  const length = { samples: 0, sampleRate: 0 };
  async function* counted(): AsyncGenerator<SpeechChunk> {
    const limit = new SpeechLimit();
    for await (const chunk of chunks) {
      limit.add(chunk);
      length.samples += chunk.samples.length;
      length.sampleRate = chunk.sampleRate;
      yield chunk;
    }
  }
  const head = await openFileHead(format);
  for await (const bytes of encode(format, counted(), { gainDb })) {
    for (const part of head.pass(bytes)) await output.write(part);
  }
  const beginning = head.finish(length);
  if (beginning !== undefined) await output.overwrite(0, beginning);
  await output.publish();
  return length;
}
