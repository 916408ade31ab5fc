import type { SpeechChunk } from '../engine/speech-engine.ts';
import { EngineError } from '../engine/speech-engine.ts';
import type { EncodeSpeech } from './encode.ts';
import type { SpeechPlan } from './plan.ts';

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
  plan: SpeechPlan,
  encode: EncodeSpeech,
  signal: AbortSignal,
): Promise<StartedAudio> {
  let isSpeaking = false;
  const chunks = plan.voice.speaker.synthesize(plan.engineRequest, signal);
  const heard = observe(chunks, () => {
    isSpeaking = true;
  });
  const { format, gainDb } = plan;
  const rest = encode(format, heard, { gainDb })[Symbol.asyncIterator]();
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
