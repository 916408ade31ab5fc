import { PAGE_SIZE_MAX } from '../../contract/limits.ts';
import type { Voice, VoiceList } from '../../contract/voices.ts';
import type { VoiceType } from '../../contract/values.ts';
import { Failure } from '../../errors/failure.ts';
import type { ApiClient } from '../client.ts';
import { readJson } from '../client.ts';
import { reviseFailure } from '../failures.ts';
import { allItems, readPage } from '../pages.ts';
import type { Page } from '../pages.ts';
import { endpoint } from '../request.ts';
import type { JsonAnswer, Answer } from '../response.ts';
import { isOptional, isRecord, isStringArray } from '../response.ts';
import type { AttemptOutcome } from '../retry.ts';
import type { CreateAnswer } from './create.ts';
import { firstText as firstNonEmpty, namesNothing, readCreateAnswer } from './create.ts';

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

/** One page of the voices (docs/api/speech.md#v3). */
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

/** One voice by its id (docs/api/speech.md#v3). */
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

/** Which voices are asked for (docs/api/voices.md). */
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

/** What both descriptions of a v1 voice agree on (docs/api/voices.md). */
export interface ListedVoiceV1 {
  readonly voiceId: string;
  readonly name: string;
  readonly description: string;
  readonly isPersonal: boolean;
}

/** One page of the voices that fit (docs/api/voices.md). */
export function listVoicesV1(
  client: ApiClient,
  { signal, ...query }: VoiceV1Query = {},
): Promise<JsonAnswer<Page<ListedVoiceV1>>> {
  const call = { ...endpoint('listVoicesV1'), billed: false, retry: 'safe' } as const;
  return client.json({ ...call, query: { ...query }, signal }, (body) =>
    readPage(body, readVoiceV1),
  );
}

/** `GET /v1/audio/voices` (docs/api/other-clients.md): all voices at once. */
export function listCompatVoices(
  client: ApiClient,
  signal?: AbortSignal,
): Promise<JsonAnswer<readonly ListedVoiceV1[]>> {
  const call = { ...endpoint('listCompatVoices'), billed: false, retry: 'safe' } as const;
  return client.json({ ...call, signal }, readCompatVoices);
}

function readCompatVoices(body: unknown): readonly ListedVoiceV1[] | undefined {
  if (!isRecord(body) || !Array.isArray(body['voices'])) return undefined;
  const voices = body['voices'].map((voice) => readVoiceV1(voice));
  return voices.every((voice) => voice !== undefined) ? voices : undefined;
}

/** One description names its fields otherwise than the other. */
function readVoiceV1(body: unknown): ListedVoiceV1 | undefined {
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

/**
 * Deletes a voice of the account (docs/api/voices.md). Gone is gone: an attempt that finds nothing after
 * one whose answer was lost has done what was wanted.
 * @returns the answer, as it came; without one, the id
 * @throws Failure (rejected) for a voice that is not yours, or in use
 */
export async function deleteVoice(
  client: ApiClient,
  voiceId: string,
  signal?: AbortSignal,
): Promise<unknown> {
  let mayBeDone = false;
  const onRepeat = (before: AttemptOutcome): void => {
    mayBeDone ||=
      before.kind === 'unanswered' || (before.kind === 'status' && before.status >= 500);
  };
  const call = endpoint('deleteVoice', { voiceId });
  try {
    const answer = await client.send({ ...call, billed: false, retry: 'safe', onRepeat, signal });
    if (answer.framing === 'none' || answer.contentLength === 0) return { voiceId };
    return await readJson(answer);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 404 && mayBeDone) return { voiceId };
    throw error.status === 409 ? inUse(error, voiceId) : error;
  }
}

function inUse(failure: Failure, voiceId: string): Failure {
  return reviseFailure(failure, {
    message: `voice ${voiceId} is in use, and stays: ${failure.message}`,
    hint:
      'Something that is not finished speaks with it: `foley jobs list --status processing` and ' +
      '`--status pending` show jobs; delete it when they have ended.',
  });
}

/** What a person may have made one of too many of. */
const NO_ROOM =
  '`foley profile` shows what is left. An account may also have only so many voices: ' +
  '`foley voices list --type personal` shows them, `foley voices delete ID` makes room.';

/** A voice that was made, by either description of it (docs/api/voices.md). */
export interface MadeVoice extends Omit<CreateAnswer, 'made'> {
  /** What speech is asked for with. */
  readonly voiceId: string;
  /** As the service has it, where it says so. */
  readonly name: string | undefined;
  /** ISO 8601, where the service says so. */
  readonly createdAt: string | undefined;
}

/** The same error; a 402 for a new voice may be about credits or about room (docs/api/errors.md). */
export function refusedVoice(error: unknown): unknown {
  const isFull = error instanceof Failure && error.status === 402;
  return isFull ? reviseFailure(error, { hint: NO_ROOM }) : error;
}

/**
 * The voice in the answer to its create: `voiceId` and `title`, or `id` and `name`.
 * @throws Failure (bad_answer) when it names none; the voice may be there all the same
 */
export async function readMadeVoice(answer: Answer): Promise<MadeVoice> {
  const { made, ...told } = await readCreateAnswer(answer, ['voice', 'data']);
  const voiceId = firstNonEmpty(made['voiceId'], made['id']);
  if (voiceId === undefined) throw namesNothing('voice', answer);
  return {
    ...told,
    voiceId,
    name: firstNonEmpty(made['title'], made['name']),
    createdAt: firstNonEmpty(made['createdAt'], made['created_at']),
  };
}
