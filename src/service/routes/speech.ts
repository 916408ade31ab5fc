import { SpeechRequest } from '../../contract/schemas/speech.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { answerSpeech } from './answer-speech.ts';
import type { AccountCall, Handler } from './call.ts';

/** `POST /speech/tts` of v3 (spec section 4.1). */
export const createSpeech: Handler<AccountCall> = async (call, context) => {
  const { headers } = call.request;
  const order = requireValid(SpeechRequest, await readJsonBody(call.request), 'The body');
  const idempotencyKey = idempotencyKeyOf(headers);
  return answerSpeech(call, context, { surface: 'v3', order, idempotencyKey });
};
