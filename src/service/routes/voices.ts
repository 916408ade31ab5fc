import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import type { VoiceAnswer, VoiceList } from '../../contract/schemas/voice.ts';
import { VoiceListQuery } from '../../contract/schemas/voice.ts';
import { voiceRecord } from '../catalogue/catalogue.ts';
import { requireQuery } from '../http/query.ts';
import { ServiceError } from '../service-error.ts';
import { showText } from '../wording/show-value.ts';
import type { AccountCall, Handler } from './call.ts';

/** `GET /voices` (spec sections 2.1 and 4.1). */
export const listVoices: Handler<AccountCall> = (
  { account, request, requestId },
  { catalogue },
) => {
  const query = requireQuery(request.url, VoiceListQuery);
  const { page = 1, pageSize = PAGE_SIZE_DEFAULT, includePersonal = false } = query;
  const { voices: all } = catalogue.of(account);
  const voices = all.filter(({ isPersonal }) => includePersonal || !isPersonal);
  const start = (page - 1) * pageSize;
  const body: VoiceList = {
    total: voices.length,
    page,
    pageSize,
    totalPages: Math.ceil(voices.length / pageSize),
    items: voices.slice(start, start + pageSize).map((voice) => voiceRecord(voice)),
    requestId,
  };
  return Response.json(body);
};

/** `GET /voices/{voiceId}` (spec section 4.1). */
export const getVoice: Handler<AccountCall> = (
  { account, parameters, requestId },
  { catalogue },
) => {
  const { voiceId = '' } = parameters;
  const voice = catalogue.of(account).voice(voiceId);
  if (voice === undefined) {
    throw new ServiceError('ERR_VOICE_NOT_FOUND', `There is no voice ${showText(voiceId)}`);
  }
  const body: VoiceAnswer = { ...voiceRecord(voice), requestId };
  return Response.json(body);
};
