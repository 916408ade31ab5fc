import type { VoiceDeleted } from '../../contract/schemas/voice-create.ts';
import { VoiceDeletion } from '../../contract/schemas/voice-create.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import type { ServiceContext } from '../service-context.ts';
import type { AccountCall, Handler } from './call.ts';
import { voiceOf } from './known-fields.ts';

/** `DELETE /voices/{voiceId}` of v1 and v3 (spec sections 4.5 and 9). */
export const deleteVoice: Handler<AccountCall> = ({ account, parameters }, context) =>
  remove(context, account, parameters['voiceId'] ?? '');

/** `POST /delete-model`, from before v1 (spec section 9): the same, asked for with a body. */
export const deleteModel: Handler<AccountCall> = async ({ account, request }, context) => {
  const body = requireValid(VoiceDeletion, await readJsonBody(request), 'The body');
  return remove(context, account, voiceOf(body));
};

function remove({ personalVoices }: ServiceContext, account: string, voiceId: string): Response {
  personalVoices.remove(account, voiceId);
  const body: VoiceDeleted = { voiceId };
  return Response.json(body);
}
