import { PAGE_SIZE_MAX } from '../../contract/limits.ts';
import type { Voice, VoiceList } from '../../contract/voices.ts';
import type { VoiceType } from '../../contract/values.ts';
import { Failure } from '../../errors/failure.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import type { ApiClient, CreateAnswer } from '../client.ts';
import { readCreateAnswer, readJson } from '../client.ts';
import { charged, reviseFailure } from '../failures.ts';
import type { FilePart, FormPart } from '../multipart.ts';
import { multipartBody } from '../multipart.ts';
import { endpoint } from '../request.ts';
import type { BilledOptions, RequestSpec, StreamedBody } from '../request.ts';
import type { JsonAnswer, Answer } from '../response.ts';
import {
  badAnswer,
  firstNumber,
  firstText,
  isOptional,
  isRecord,
  isStringArray,
} from '../response.ts';
import type { AttemptOutcome } from '../retry.ts';

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
  const voiceId = firstText(made['voiceId'], made['id']);
  if (voiceId === undefined) throw charged(badAnswer('the answer names no voice', answer));
  return {
    ...told,
    voiceId,
    name: firstText(made['title'], made['name']),
    createdAt: firstText(made['createdAt'], made['created_at']),
  };
}

/** What a voice is made of (docs/api/voices.md). */
export interface VoiceForm {
  readonly name: string;
  /** Recordings of the speaker. */
  readonly audioFiles: readonly Omit<FilePart, 'name'>[];
  readonly description?: string | undefined;
  /** What is said in the recordings. */
  readonly referenceText?: string | undefined;
  readonly visibility?: VoiceVisibility | undefined;
  readonly languages?: readonly string[] | undefined;
}

/** Sends the key only if the user gave one: no document says that the service honours it. */
export type CreateVoiceOptions = Pick<BilledOptions, 'requestId' | 'signal'> & {
  readonly idempotencyKey?: string | undefined;
};

/** The fields of the form, in order; the files come last, so that the rest is known when they do. */
export function voiceFields(form: VoiceForm): readonly FormPart[] {
  const { audioFiles, description, languages = [], name, referenceText, visibility } = form;
  const texts = {
    name,
    description,
    referenceText,
    visibility,
    languages: languages.length === 0 ? undefined : JSON.stringify(languages),
  };
  return [
    ...Object.entries(texts).flatMap(([field, value]) =>
      value === undefined ? [] : [{ name: field, value }],
    ),
    ...audioFiles.map((file) => ({ ...file, name: 'audioFiles' })),
  ];
}

/** The body of {@link createVoice}. @param boundary as {@link multipartBody} takes it */
export function voiceUpload(form: VoiceForm, boundary: string): StreamedBody {
  return multipartBody(voiceFields(form), boundary);
}

/** The request of {@link createVoice}, to be described or sent. */
export function createVoiceRequest(
  stream: StreamedBody,
  { idempotencyKey, requestId, signal }: CreateVoiceOptions,
): RequestSpec {
  return {
    ...endpoint('createVoice'),
    stream,
    billed: true,
    // Nothing documents that a repetition is recognized: it could make a second voice.
    retry: 'never',
    key:
      idempotencyKey === undefined
        ? undefined
        : { value: idempotencyKey, madeByTool: false, sentAs: 'Idempotency-Key' },
    lookAt: LOOK_AT,
    requestId,
    signal,
  };
}

const LOOK_AT =
  '`foley voices list --type personal` shows whether the voice was made; look before you make it again.';

/**
 * Makes a voice from recordings (docs/api/voices.md).
 * @throws Failure; one whose answer names no voice may have made it
 */
export async function createVoice(
  client: ApiClient,
  stream: StreamedBody,
  options: CreateVoiceOptions,
): Promise<MadeVoice> {
  try {
    return await readMadeVoice(await client.send(createVoiceRequest(stream, options)));
  } catch (error) {
    throw refusedVoice(error);
  }
}

/** One page of a list, as every list of the service has it. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly page: number;
  readonly totalPages: number;
}

/** Every item, page after page from the first; ends with the first page that has none. */
export async function* allItems<Item>(
  list: (page: number) => Promise<JsonAnswer<Page<Item>>>,
): AsyncGenerator<{ readonly item: Item; readonly raw: unknown }, void, undefined> {
  for (let page = 1; ; page += 1) {
    const { value, raw } = await list(page);
    const items: unknown = isRecord(raw) ? raw['items'] : undefined;
    for (const [index, item] of value.items.entries()) {
      yield { item, raw: Array.isArray(items) ? items[index] : item };
    }
    if (value.items.length === 0 || page >= value.totalPages) return;
  }
}

/** The counts of a page; what the service leaves out is made up from what is there. */
export function readPage<Item>(
  body: unknown,
  readItem: (item: unknown) => Item | undefined,
): Page<Item> | undefined {
  if (!isRecord(body) || !Array.isArray(body['items'])) return undefined;
  const items = body['items'].map((item) => readItem(item));
  if (!items.every((item) => item !== undefined)) return undefined;
  return {
    items,
    total: firstNumber(body['total']) ?? items.length,
    page: firstNumber(body['page']) ?? 1,
    totalPages: firstNumber(body['totalPages']) ?? 1,
  };
}
