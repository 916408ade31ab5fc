import { PAGE_SIZE_MAX } from '../contract/limits.ts';
import type { Voice, VoiceList } from '../contract/schemas/voice.ts';
import type { JsonAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import { endpoint } from './endpoint.ts';
import { allItems, readPage } from './pages.ts';
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

/** Every voice, page after page. */
export async function* allVoices(
  client: ApiClient,
  query: Pick<VoiceQuery, 'includePersonal' | 'signal'> = {},
): AsyncGenerator<ListedVoice, void, undefined> {
  const list = (page: number): Promise<JsonAnswer<VoiceList>> =>
    listVoices(client, { ...query, page, pageSize: PAGE_SIZE_MAX });
  for await (const { item: voice, raw } of allItems(list)) yield { voice, raw };
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
  const page = readPage(body, readVoice);
  if (page === undefined || !isRecord(body)) return undefined;
  const { pageSize, requestId } = body;
  return {
    ...page,
    items: [...page.items],
    pageSize: typeof pageSize === 'number' ? pageSize : page.items.length,
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
