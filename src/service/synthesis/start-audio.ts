import type { SpeechChunk } from '../engine/speech-engine.ts';
import { EngineError } from '../engine/speech-engine.ts';
import type { EncodedFormat, EncodeSpeech } from './encode.ts';

/** Speech on its way into a format. */
export interface SpeechSource {
  readonly chunks: AsyncIterable<SpeechChunk>;
  readonly format: EncodedFormat;
  /** Change of level in decibels. */
  readonly gainDb: number;
  /** As in `EncodeOptions`. */
  readonly streamNumber?: number | undefined;
}

/** Audio whose first bytes exist. */
export interface StartedAudio {
  readonly head: readonly Uint8Array[];
  readonly rest: AsyncIterator<Uint8Array>;
}

/**
 * Speaks until the first of the audio exists: a stretch of speech, not only the header of a file.
 * @throws EngineError when nothing can be spoken; whatever the engine or the encoder throws
 */
export async function startAudio(
  { chunks, format, gainDb, streamNumber }: SpeechSource,
  encode: EncodeSpeech,
): Promise<StartedAudio> {
  let isSpeaking = false;
  const heard = observe(chunks, () => {
    isSpeaking = true;
  });
  const rest = encode(format, heard, { gainDb, streamNumber })[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  for (;;) {
    const next = await rest.next();
    if (next.done !== true) head.push(next.value);
    if (isSpeaking) return { head, rest };
    if (next.done === true) {
      throw new EngineError('unspeakable', 'The text has nothing that this voice can say');
    }
  }
}

async function* observe(
  chunks: AsyncIterable<SpeechChunk>,
  onChunk: () => void,
): AsyncGenerator<SpeechChunk> {
  for await (const chunk of chunks) {
    onChunk();
    yield chunk;
  }
}
