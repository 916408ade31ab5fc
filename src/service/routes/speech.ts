import { SpeechRequest } from '../../contract/schemas/speech.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { beginOperation } from '../operations/begin-operation.ts';
import { fingerprintOf } from '../operations/fingerprint.ts';
import { planSpeech } from '../synthesis/plan.ts';
import { speakStream } from '../synthesis/speak.ts';
import type { AccountCall, Handler } from './call.ts';
import { audioAnswer } from './audio-answer.ts';

/** `POST /speech/tts` (spec sections 4.1 and 7.2): audio that leaves while it is spoken. */
export const createSpeech: Handler<AccountCall> = async (call, context) => {
  const { account, request, requestId } = call;
  const body = requireValid(SpeechRequest, await readJsonBody(request), 'The body');
  const idempotencyKey = idempotencyKeyOf(request.headers);
  const plan = planSpeech(body, context.catalogue);
  const operation = beginOperation(context.operations, {
    accountId: account,
    endpoint: 'createSpeech',
    idempotencyKey,
    fingerprint: fingerprintOf(body),
    requestId,
    charge: plan.charge,
  });
  const { signal } = request;
  const spoken = await speakStream({ context, plan, operation, signal, requestId });
  return audioAnswer(plan, spoken, { tellsIgnored: true });
};
