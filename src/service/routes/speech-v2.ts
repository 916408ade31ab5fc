import { EMOTION_MAX_CHARACTERS } from '../../contract/limits.ts';
import { SpeechRequestV2 } from '../../contract/schemas/speech-v2.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { requestKeyOf } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { answerSpeech } from './answer-speech.ts';
import type { AccountCall, Handler } from './call.ts';
import { knownFields } from './known-fields.ts';

/** `POST /speech/tts` of v2 (spec section 4.2). */
export const createSpeechV2: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(SpeechRequestV2, await readJsonBody(call.request), 'The body');
  const idempotencyKey = requestKeyOf(call.request.headers);
  const order = {
    ...knownFields(body),
    voiceId: body.voiceId,
    modelId: body.modelId ?? historicalModel(body.engineModelId, context.catalogue),
    emotion: body.emotion ?? historicalEmotion(body.minimaxEmotion),
  };
  return answerSpeech(call, context, { surface: 'v2', order, idempotencyKey });
};

/** The name under which older clients chose the model; one that is not known never mattered. */
function historicalModel(value: unknown, catalogue: Catalogue): string | undefined {
  return typeof value === 'string' ? catalogue.model(value)?.id : undefined;
}

/** The name under which older clients gave the emotion. */
function historicalEmotion(value: unknown): string | undefined {
  const fits = typeof value === 'string' && value !== '' && value.length <= EMOTION_MAX_CHARACTERS;
  return fits ? value : undefined;
}
