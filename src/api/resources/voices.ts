import { PAGE_SIZE_MAX } from '../../contract/limits.ts';
import type { Voice, VoiceList } from '../../contract/voices.ts';
import type { VoiceType } from '../../contract/values.ts';
import { Failure } from '../../errors/failure.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import type { ApiClient, CreateResponse } from '../client.ts';
import { readCreateResponse, readJson } from '../client.ts';
import { maybeBilled, reviseFailure } from '../failures.ts';
import type { FormPart, UploadFile } from '../multipart.ts';
import { multipartBody } from '../multipart.ts';
import { endpoint, safeRequest } from '../request.ts';
import type { RequestOptions, RequestSpec, StreamedBody } from '../request.ts';
import type { JsonResponse, ApiResponse } from '../response.ts';
import {
  badResponse,
  firstNumber,
  firstRecord,
  firstText,
  isOptional,
  isRecord,
  isStringArray,
  readArray,
} from '../response.ts';
import type { AttemptOutcome } from '../retry.ts';

export interface VoiceFilter {
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly includePersonal?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A voice from a list. Includes the original JSON of the voice. */
export interface ListedVoice {
  readonly voice: Voice;
  readonly raw: unknown;
}

/** Lists one page of the voices (docs/api/speech.md#v3). */
export function listVoices(
  client: ApiClient,
  { page, pageSize, includePersonal, signal }: VoiceFilter = {},
): Promise<JsonResponse<VoiceList>> {
  const query = { page, pageSize, includePersonal };
  return client.json(safeRequest('listVoices', {}, { query, signal }), readVoiceList);
}

/** Yields the voices of all pages of the voice list. */
export async function* allVoices(
  client: ApiClient,
  query: VoiceFilter = {},
): AsyncGenerator<ListedVoice, void, undefined> {
  const list = (page: number): Promise<JsonResponse<VoiceList>> =>
    listVoices(client, { ...query, page, pageSize: PAGE_SIZE_MAX });
  for await (const { item: voice, raw } of allItems(list)) yield { voice, raw };
}

/** Returns one voice (docs/api/speech.md#v3). */
export function getVoice(
  client: ApiClient,
  voiceId: string,
  signal?: AbortSignal,
): Promise<JsonResponse<Voice>> {
  return client.json(safeRequest('getVoice', { voiceId }, { signal }), readVoice);
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

function readVoice(body: unknown): Voice | undefined {
  if (!isRecord(body)) return undefined;
  const { voiceId, name, isPersonal, primaryLanguage, languages, modelIds } = body;
  const { description, phonemes } = body;
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
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof phonemes === 'string' ? { phonemes } : {}),
  };
}

/** Filters of the v1 voice list (docs/api/voices.md). */
export interface VoiceV1Query extends VoiceFilter {
  readonly modelType?: VoiceType | undefined;
  /** Lists only the voices with exactly this primary language subtag, such as `en`. */
  readonly language?: string | undefined;
  readonly supportsLanguage?: string | undefined;
  /** Lists only the voices whose name or description contains this text. */
  readonly search?: string | undefined;
  /** Lists only the voices of this engine family. */
  readonly provider?: string | undefined;
}

/** A voice in one of the two v1 voice lists (docs/api/voices.md). */
export interface ListedVoiceV1 {
  readonly voiceId: string;
  readonly name: string;
  readonly description: string;
  readonly isPersonal: boolean;
}

/** Lists one page of matching voices (docs/api/voices.md). */
export function listVoicesV1(
  client: ApiClient,
  { signal, ...query }: VoiceV1Query = {},
): Promise<JsonResponse<PageOf<ListedVoiceV1>>> {
  const request = safeRequest('listVoicesV1', {}, { query: { ...query }, signal });
  return client.json(request, (body) => readPage(body, readVoiceV1));
}

/** Lists all voices in one response: `GET /v1/audio/voices` (docs/api/other-clients.md). */
export function listCompatVoices(
  client: ApiClient,
  signal?: AbortSignal,
): Promise<JsonResponse<readonly ListedVoiceV1[]>> {
  return client.json(safeRequest('listCompatVoices', {}, { signal }), (body) =>
    readArray(firstRecord(body)?.['voices'], readVoiceV1),
  );
}

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
 * Deletes a voice of the account (docs/api/voices.md). A 404 counts as success if an earlier attempt may have deleted
 * the voice.
 * @returns the response body, or `{ voiceId }` if the body is empty
 * @throws Failure of kind `rejected` if the voice belongs to another account or is in use
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
  try {
    const response = await client.send(
      safeRequest('deleteVoice', { voiceId }, { onRepeat, signal }),
    );
    if (response.framing === 'none' || response.contentLength === 0) return { voiceId };
    return await readJson(response);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 404 && mayBeDone) return { voiceId };
    throw error.status === 409 ? inUse(error, voiceId) : error;
  }
}

function inUse(failure: Failure, voiceId: string): Failure {
  return reviseFailure(failure, {
    message: `voice ${voiceId} is in use and was not deleted: ${failure.message}`,
    hint:
      'Unfinished jobs use this voice. List them with `foley jobs list --status processing` and `foley jobs list --status pending`. ' +
      'Delete the voice when these jobs have ended.',
  });
}

const NO_ROOM =
  '`foley profile` shows the remaining credits. Accounts also have a voice limit: ' +
  '`foley voices list --type personal` lists yours, and `foley voices delete ID` removes one.';

/** A custom voice that was just created (docs/api/voices.md). */
export interface MadeVoice extends CreateResponse {
  readonly voiceId: string;
  readonly name: string | undefined;
  /** When the voice was created, in ISO 8601 format. */
  readonly createdAt: string | undefined;
  /** What the service says about how it made the voice. */
  readonly notices: readonly string[];
}

/** Adds a hint to a 402 failure: too few credits, or too many voices. Returns other errors unchanged. */
export function withVoiceLimitHint(error: unknown): unknown {
  const isFull = error instanceof Failure && error.status === 402;
  return isFull ? reviseFailure(error, { hint: NO_ROOM }) : error;
}

/**
 * Reads a new voice from the response to a create request. The response contains `voiceId` and `title`, or `id` and
 * `name`.
 * @throws Failure of kind `bad_answer` if the response has no voice id; the voice may still have been created
 */
export async function readMadeVoice(response: ApiResponse): Promise<MadeVoice> {
  const { created, made } = await readCreateResponse(response, ['voice', 'data']);
  const voiceId = firstText(made['voiceId'], made['id']);
  if (voiceId === undefined)
    throw maybeBilled(badResponse('the response names no voice', response));
  return {
    ...created,
    voiceId,
    name: firstText(made['title'], made['name']),
    createdAt: firstText(made['createdAt'], made['created_at']),
    notices: readTexts(made['notices']),
  };
}

/** The form fields of a request that creates a voice from recordings (docs/api/voices.md). */
export interface VoiceForm {
  readonly name: string;
  readonly audioFiles: readonly UploadFile[];
  readonly description?: string | undefined;
  /** Transcript of the recordings. */
  readonly referenceText?: string | undefined;
  readonly visibility?: VoiceVisibility | undefined;
  readonly languages?: readonly string[] | undefined;
}

/**
 * Options for creating a voice. The service may ignore an idempotency key, so foley sends only a key that the user
 * chose.
 */
export interface CreateVoiceOptions extends RequestOptions {
  readonly idempotencyKey?: string | undefined;
}

/** Returns the multipart fields. Files come last, so that the service can validate the other fields first. */
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

/**
 * Builds the form body that {@link createVoice} sends.
 * @param boundary the multipart boundary; see {@link multipartBody}
 */
export function voiceUpload(form: VoiceForm, boundary: string): StreamedBody {
  return multipartBody(voiceFields(form), boundary);
}

/** Builds the request that {@link createVoice} sends. */
export function createVoiceRequest(
  stream: StreamedBody,
  { idempotencyKey, requestId, signal }: CreateVoiceOptions,
): RequestSpec {
  return {
    ...endpoint('createVoice'),
    stream,
    billed: true,
    // The API does not document idempotency for this request: a retry could create a second voice.
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
  'Check with `foley voices list --type personal` whether the voice was created before you create it again.';

/**
 * Creates a voice from recordings (docs/api/voices.md).
 * @throws Failure. If the response has no voice id, the voice may still have been created.
 */
export async function createVoice(
  client: ApiClient,
  stream: StreamedBody,
  options: CreateVoiceOptions,
): Promise<MadeVoice> {
  try {
    return await readMadeVoice(await client.send(createVoiceRequest(stream, options)));
  } catch (error) {
    throw withVoiceLimitHint(error);
  }
}

export interface PageOf<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly page: number;
  readonly totalPages: number;
}

/** Yields the items of all pages of a list. An empty page ends the list. */
export async function* allItems<Item>(
  list: (page: number) => Promise<JsonResponse<PageOf<Item>>>,
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

function readPage<Item>(
  body: unknown,
  readItem: (item: unknown) => Item | undefined,
): PageOf<Item> | undefined {
  const { items: list, page, total, totalPages } = firstRecord(body) ?? {};
  const items = readArray(list, readItem);
  if (items === undefined) return undefined;
  return {
    items,
    total: firstNumber(total) ?? items.length,
    page: firstNumber(page) ?? 1,
    totalPages: firstNumber(totalPages) ?? 1,
  };
}

/** Returns the strings of a list; other values are ignored. */
export function readTexts(value: unknown): readonly string[] {
  return [value].flat().filter((one) => typeof one === 'string');
}
