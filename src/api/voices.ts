import { PAGE_SIZE_MAX } from '../contract/limits.ts';
import type { Voice, VoiceList } from '../contract/schemas/voice.ts';
import type { JsonAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import { endpoint } from './endpoint.ts';
import { isOptional, isRecord, isStringArray } from './shape.ts';

export interface VoiceQuery {
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly includePersonal?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A voice and the item that it came in, with the fields that foley does not know. */
export interface ListedVoice {
  readonly voice: Voice;
  readonly raw: unknown;
}

/** One page of the voices (spec section 4.1). */
export function listVoices(
  client: ApiClient,
  { page, pageSize, includePersonal, signal }: VoiceQuery = {},
): Promise<JsonAnswer<VoiceList>> {
  return client.json(
    {
      ...endpoint('listVoices'),
      query: { page, pageSize, includePersonal },
      billed: false,
      retry: 'safe',
      signal,
    },
    readVoiceList,
  );
}

/** Every voice, page after page; ends with the first page that has none. */
export async function* allVoices(
  client: ApiClient,
  query: Pick<VoiceQuery, 'includePersonal' | 'signal'> = {},
): AsyncGenerator<ListedVoice, void, undefined> {
  for (let page = 1; ; page += 1) {
    const { value, raw } = await listVoices(client, { ...query, page, pageSize: PAGE_SIZE_MAX });
    const items: unknown = isRecord(raw) ? raw['items'] : undefined;
    for (const [index, voice] of value.items.entries()) {
      yield { voice, raw: Array.isArray(items) ? items[index] : voice };
    }
    if (value.items.length === 0 || page >= value.totalPages) return;
  }
}

/** One voice by its id (spec section 4.1). */
export function getVoice(
  client: ApiClient,
  voiceId: string,
  signal?: AbortSignal,
): Promise<JsonAnswer<Voice>> {
  return client.json(
    { ...endpoint('getVoice', { voiceId }), billed: false, retry: 'safe', signal },
    readVoice,
  );
}

function readVoiceList(body: unknown): VoiceList | undefined {
  if (!isRecord(body) || !Array.isArray(body['items'])) return undefined;
  const items = body['items'].map((item) => readVoice(item));
  if (!items.every((item) => item !== undefined)) return undefined;
  const { page, pageSize, requestId, total, totalPages } = body;
  return {
    items,
    total: numberOr(total, items.length),
    page: numberOr(page, 1),
    pageSize: numberOr(pageSize, items.length),
    totalPages: numberOr(totalPages, 1),
    requestId: typeof requestId === 'string' ? requestId : '',
  };
}

/** What the spec leaves open may be missing; what is there must be of its kind. */
function readVoice(body: unknown): Voice | undefined {
  if (!isRecord(body)) return undefined;
  const { voiceId, name, isPersonal, primaryLanguage, languages, modelIds } = body;
  if (typeof voiceId !== 'string' || voiceId === '') return undefined;
  if (!isOptional(languages, isStringArray) || !isOptional(modelIds, isStringArray)) {
    return undefined;
  }
  return {
    voiceId,
    name: typeof name === 'string' ? name : voiceId,
    isPersonal: isPersonal === true,
    primaryLanguage: typeof primaryLanguage === 'string' ? primaryLanguage : '',
    languages: isStringArray(languages) ? languages : [],
    modelIds: isStringArray(modelIds) ? modelIds : [],
  };
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
