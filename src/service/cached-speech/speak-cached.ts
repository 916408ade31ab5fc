import type { SpeechFormat } from '../../contract/schemas/speech.ts';
import { writeSpeech } from '../audio-files/write-speech.ts';
import type { Speaking } from '../synthesis/speak.ts';
import { generate, requireSettled, speechOf } from '../synthesis/speak.ts';
import type { CachedRecord } from './cached-speech-records.ts';
import type { CachedSpeech, CachedWriting } from './cached-speech.ts';

/**
 * Speaks into a file that is whole when this resolves, and charges for it then (spec section 4.3).
 * @throws ServiceError 400 for a text that cannot be spoken, 500 for anything else, refunded
 */
export function speakCached(
  speaking: Speaking,
  cachedSpeech: CachedSpeech,
  format: SpeechFormat,
): Promise<CachedRecord> {
  const { operation, plan } = speaking;
  return generate(speaking, async (generation) => {
    const { id } = operation;
    const creditsUsed = plan.charge.credits;
    const writing = await cachedSpeech.open({ id, format, creditsUsed });
    try {
      await write(speaking, { writing, format, signal: generation.signal });
      const { quota } = requireSettled(operation.commit());
      let record: CachedRecord | undefined;
      operation.complete((db) => {
        record = writing.ready(db, quota);
      });
      const settled = requireSettled(record);
      generation.end();
      return settled;
    } catch (error) {
      await writing.output.abandon();
      await writing.discard();
      throw error;
    }
  });
}

interface Write {
  readonly writing: CachedWriting;
  readonly format: SpeechFormat;
  readonly signal: AbortSignal;
}

async function write(
  speaking: Speaking,
  { writing: { output }, format, signal }: Write,
): Promise<void> {
  const { encode } = speaking.context;
  const { gainDb } = speaking.plan;
  await writeSpeech({ output, encode, format, gainDb }, speechOf(speaking, signal));
  signal.throwIfAborted();
}
