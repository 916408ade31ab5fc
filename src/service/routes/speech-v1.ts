import type { SpeechFormat } from '../../contract/schemas/speech.ts';
import { SpeechRequestV1 } from '../../contract/schemas/speech-v1.ts';
import { requestKeyOf } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { answerCached } from './answer-cached.ts';
import { answerSpeech } from './answer-speech.ts';
import type { AccountCall, Handler } from './call.ts';
import { knownFields, voiceOf } from './known-fields.ts';

/** `POST /speech/tts` of v1 (spec section 4.3). */
export const createSpeechV1: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(SpeechRequestV1, await readJsonBody(call.request), 'The body');
  const idempotencyKey = requestKeyOf(call.request.headers);
  const format: SpeechFormat = body.format ?? 'mp3';
  const order = { ...knownFields(body), voiceId: voiceOf(body) };
  const isOlder = body.voiceId === undefined;
  const names = isOlder ? { voiceId: 'reference_id' } : {};
  const request = { surface: 'v1', order, names, idempotencyKey } as const;
  return body.cache === true
    ? answerCached(call, context, { ...request, format })
    : answerSpeech(call, context, request);
};
