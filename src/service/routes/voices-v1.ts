import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import type { VoiceListV1 } from '../../contract/schemas/voice-v1.ts';
import { VoiceListV1Query } from '../../contract/schemas/voice-v1.ts';
import type { Catalogue, SpeakingVoice } from '../catalogue/catalogue.ts';
import { describeVoice, voiceV1Record } from '../catalogue/voice-v1.ts';
import { hasBody, readJsonBody } from '../http/json-body.ts';
import { requireQuery } from '../http/query.ts';
import { requireValid } from '../http/validation.ts';
import { invalidRequest } from '../service-error.ts';
import type { AccountCall, Handler } from './call.ts';

/** `GET /voices` of v1 (spec sections 2.1 and 4.5). */
export const listVoicesV1: Handler<AccountCall> = ({ account, request }, { catalogue }) =>
  Response.json(pageOf(catalogue.of(account), requireQuery(request.url, VoiceListV1Query)));

/** `POST /list-models`, from before v1 (spec section 9): the same list, asked for with a body. */
export const listVoicesByPost: Handler<AccountCall> = async (
  { account, request },
  { catalogue },
) => {
  const body = hasBody(request) ? await readJsonBody(request) : {};
  return Response.json(
    pageOf(catalogue.of(account), requireValid(VoiceListV1Query, body, 'The body')),
  );
};

function pageOf(catalogue: Catalogue, query: VoiceListV1Query): VoiceListV1 {
  const { pageSize, start } = stretchOf(query);
  const voices = catalogue.voices.filter((voice) => isWanted(voice, query));
  return {
    total: voices.length,
    page: Math.floor(start / pageSize) + 1,
    pageSize,
    totalPages: Math.ceil(voices.length / pageSize),
    items: voices.slice(start, start + pageSize).map((voice) => voiceV1Record(voice)),
  };
}

/** Pages are counted in one of two ways. */
function stretchOf(query: VoiceListV1Query): { readonly start: number; readonly pageSize: number } {
  const { page, pageSize, limit, offset } = query;
  const isByOffset = limit !== undefined || offset !== undefined;
  if (isByOffset && (page !== undefined || pageSize !== undefined)) {
    const message = 'page and pageSize do not go together with limit and offset';
    throw invalidRequest([{ field: 'page', message }]);
  }
  if (isByOffset) return { start: offset ?? 0, pageSize: limit ?? PAGE_SIZE_DEFAULT };
  const size = pageSize ?? PAGE_SIZE_DEFAULT;
  return { start: ((page ?? 1) - 1) * size, pageSize: size };
}

function isWanted(voice: SpeakingVoice, query: VoiceListV1Query): boolean {
  const { includePersonal = false, language, provider, search, supportsLanguage } = query;
  const modelType = query.modelType ?? (includePersonal ? 'all' : 'public');
  return (
    (modelType === 'all' || voice.isPersonal === (modelType === 'personal')) &&
    (provider === undefined || voice.family === provider) &&
    (language === undefined || isSame(voice.primaryLanguage, language)) &&
    (supportsLanguage === undefined ||
      voice.languages.some((one) => isWithin(one, supportsLanguage))) &&
    (search === undefined || mentions(voice, search))
  );
}

function mentions(voice: SpeakingVoice, words: string): boolean {
  return [voice.name, describeVoice(voice)].some((text) =>
    text.toLowerCase().includes(words.toLowerCase()),
  );
}

function isSame(code: string, wanted: string): boolean {
  return code.toLowerCase() === wanted.toLowerCase();
}

/** `en-US` is within `en`. */
function isWithin(code: string, range: string): boolean {
  return isSame(code, range) || code.toLowerCase().startsWith(`${range.toLowerCase()}-`);
}
