import { SpeechRequest } from '../../contract/schemas/speech.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { speakAligned } from '../synthesis/aligned/speak-aligned.ts';
import { beginSpeech } from './answer-speech.ts';
import { EVENT_STREAM, paidAnswer } from './audio-answer.ts';
import type { AccountCall, Handler } from './call.ts';

/**
 * `POST /speech/tts/aligned` of v3 (spec sections 4.1 and 6.1): the body and the money of `POST
 * /speech/tts`, and the audio with the times of its words as a stream of events.
 */
export const createAlignedSpeech: Handler<AccountCall> = async (call, context) => {
  const { headers } = call.request;
  const order = requireValid(SpeechRequest, await readJsonBody(call.request), 'The body');
  const speaking = beginSpeech(call, context, {
    surface: 'v3',
    endpoint: 'createAlignedSpeech',
    isAligned: true,
    order,
    idempotencyKey: idempotencyKeyOf(headers),
  });
  const stream = await speakAligned(speaking);
  return paidAnswer(speaking.plan, stream, { type: EVENT_STREAM, tellsIgnored: true });
};
