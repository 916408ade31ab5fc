import type { SpeechRequest } from '../../contract/schemas/speech.ts';
import type { SpeechOrder } from '../synthesis/plan.ts';

/** What a body that is not strict shares with v3, without anything else that it may hold. */
export function knownFields(body: Omit<SpeechRequest, 'voiceId'>): Omit<SpeechOrder, 'voiceId'> {
  const { text, modelId, format, language, emotion, instruction } = body;
  const { speed, volume, pitch, stability, similarity, textNormalization, filterEmoji } = body;
  const numbers = { speed, volume, pitch, stability, similarity };
  const others = { language, emotion, instruction, textNormalization, filterEmoji };
  return { text, modelId, format, ...numbers, ...others };
}
