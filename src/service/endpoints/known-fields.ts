import type { SpeechRequest } from '../../contract/speech.ts';
import { invalidRequest } from '../service-error.ts';
import type { SpeechOrder } from '../speech/plan.ts';

/** What a body that is not strict shares with v3, without anything else that it may hold. */
export function knownFields(body: Omit<SpeechRequest, 'voiceId'>): Omit<SpeechOrder, 'voiceId'> {
  const { text, modelId, format, language, emotion, instruction } = body;
  const { speed, volume, pitch, stability, similarity, textNormalization, filterEmoji } = body;
  const numbers = { speed, volume, pitch, stability, similarity };
  const others = { language, emotion, instruction, textNormalization, filterEmoji };
  return { text, modelId, format, ...numbers, ...others };
}

/**
 * The voice of a v1 body, under either of its names; `voiceId` counts where both are there.
 * @throws ServiceError 400 when there is neither
 */
export function voiceOf(body: {
  readonly voiceId?: string;
  readonly reference_id?: string;
}): string {
  const voice = body.voiceId ?? body.reference_id;
  if (voice !== undefined) return voice;
  throw invalidRequest([{ field: 'voiceId', message: 'voiceId is missing; it is required' }]);
}
