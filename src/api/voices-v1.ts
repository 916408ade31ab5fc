import type { VoiceType } from '../contract/voice-types.ts';
import type { JsonAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import { endpoint } from './endpoint.ts';
import type { Page } from './pages.ts';
import { readPage } from './pages.ts';
import { isRecord } from './shape.ts';
import type { VoiceQuery } from './voices.ts';

/** Which voices are asked for (spec section 4.5). */
export interface VoiceV1Query extends VoiceQuery {
  readonly modelType?: VoiceType | undefined;
  /** Exactly this primary language. */
  readonly language?: string | undefined;
  readonly supportsLanguage?: string | undefined;
  /** Part of the name or the description. */
  readonly search?: string | undefined;
  /** Engine family. */
  readonly provider?: string | undefined;
}

/** What both descriptions of a v1 voice agree on (spec section 2.1). */
export interface ListedVoiceV1 {
  readonly voiceId: string;
  readonly name: string;
  readonly description: string;
  readonly isPersonal: boolean;
}

/** One page of the voices that fit (spec sections 2.1 and 4.5). */
export function listVoicesV1(
  client: ApiClient,
  { signal, ...query }: VoiceV1Query = {},
): Promise<JsonAnswer<Page<ListedVoiceV1>>> {
  const call = { ...endpoint('listVoicesV1'), billed: false, retry: 'safe' } as const;
  return client.json({ ...call, query: { ...query }, signal }, (body) => readPage(body, readVoice));
}

/** `GET /v1/audio/voices` (spec section 4.4): all voices at once. */
export function listCompatVoices(
  client: ApiClient,
  signal?: AbortSignal,
): Promise<JsonAnswer<readonly ListedVoiceV1[]>> {
  const call = { ...endpoint('listCompatVoices'), billed: false, retry: 'safe' } as const;
  return client.json({ ...call, signal }, readCompatVoices);
}

function readCompatVoices(body: unknown): readonly ListedVoiceV1[] | undefined {
  if (!isRecord(body) || !Array.isArray(body['voices'])) return undefined;
  const voices = body['voices'].map((voice) => readVoice(voice));
  return voices.every((voice) => voice !== undefined) ? voices : undefined;
}

/** One description names its fields otherwise than the other. */
function readVoice(body: unknown): ListedVoiceV1 | undefined {
  if (!isRecord(body)) return undefined;
  const voiceId = firstText(body['voiceId'], body['id']);
  if (voiceId === undefined) return undefined;
  return {
    voiceId,
    name: firstText(body['title'], body['name']) ?? voiceId,
    description: firstText(body['description']) ?? '',
    isPersonal: body['isPersonal'] === true,
  };
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}
