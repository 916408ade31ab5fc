import { splitClauses } from '../../text/clauses.ts';
import type { EngineRequest, SpeechChunk, SpeechEngine } from '../engine/speech-engine.ts';
import { EngineError } from '../engine/speech-engine.ts';

/**
 * Speaks a text, at most so many characters in one go where that is asked for (spec section 4.10,
 * `chunk_length`). A stretch that holds nothing to say is passed over.
 * @throws EngineError when nothing of it can be said, or the engine breaks
 */
export async function* speakText(
  engine: Pick<SpeechEngine, 'synthesize'>,
  request: EngineRequest,
  {
    chunkLength,
    signal,
  }: { readonly chunkLength: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<SpeechChunk> {
  if (chunkLength === undefined) return yield* engine.synthesize(request, signal);
  let hasSpoken = false;
  for (const { text } of splitClauses(request.text, chunkLength)) {
    try {
      for await (const chunk of engine.synthesize({ ...request, text }, signal)) {
        hasSpoken = true;
        yield chunk;
      }
    } catch (error) {
      if (!isUnspeakable(error)) throw error;
    }
  }
  if (!hasSpoken) throw new EngineError('unspeakable', 'The text has nothing to say.');
}

/** Whether a text holds nothing that a voice can say, rather than that something broke. */
export function isUnspeakable(error: unknown): boolean {
  return error instanceof EngineError && error.reason === 'unspeakable';
}
