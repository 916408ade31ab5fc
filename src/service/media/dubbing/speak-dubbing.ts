import { writeSpeech } from '../../audio-files/write-speech.ts';
import type { ServiceContext } from '../../service-context.ts';
import type { Speaking } from '../../synthesis/speak.ts';
import { generate, requireSettled, speechOf } from '../../synthesis/speak.ts';
import type { Connection } from '../../store/connection.ts';
import type { AudioFacts } from '../inspection/inspection.ts';

/** The speech of a dubbing, in the folder of its job: whole and as it was spoken. */
export const SPEECH_FILE = 'speech.wav';

export interface DubbingSpeech {
  readonly speaking: Speaking & { readonly context: Pick<ServiceContext, 'media'> };
  /** The folder. */
  readonly folderId: string;
  /** What becomes of the speech, in the transaction in which its charge is final. */
  readonly settle: (db: Connection, speech: AudioFacts) => void;
  /** Called when that is written; a service that closes waits for it. */
  readonly onSettled: () => void;
}

/**
 * Speaks the text of a dubbing into a file, and charges for it when it is whole (spec section 4.7).
 * @throws ServiceError 400 for a text that cannot be spoken, 500 for anything else, refunded
 */
export function speakDubbing({
  folderId,
  onSettled,
  settle,
  speaking,
}: DubbingSpeech): Promise<void> {
  const { context, operation, plan } = speaking;
  return generate(speaking, async (generation) => {
    const output = await context.media.folder.create(folderId, SPEECH_FILE);
    try {
      const { encode } = context;
      const { gainDb } = plan;
      const chunks = speechOf(speaking, generation.signal);
      const length = await writeSpeech({ output, encode, format: 'wav', gainDb }, chunks);
      generation.signal.throwIfAborted();
      const seconds = length.samples / length.sampleRate;
      const speech = { codec: 'pcm-s16', seconds, start: 0, paddingSeconds: 0 };
      requireSettled(operation.commit());
      requireSettled(operation.complete((db) => settle(db, speech)) || undefined);
      onSettled();
      generation.end();
    } catch (error) {
      await output.abandon();
      throw error;
    }
  });
}
