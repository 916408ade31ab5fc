import {
  PAGE_SIZE_DEFAULT,
  LANGUAGE_MAX_CHARACTERS,
  REFERENCE_FILE_MAX_BYTES,
  REFERENCE_FILES_MAX,
  VOICE_LANGUAGES_MAX,
} from '../../contract/limits.ts';
import { REFERENCE_EXTENSIONS } from '../../contract/reference-audio.ts';
import { VoiceUpload } from '../../contract/voices.ts';
import type {
  VoiceListV1Query,
  VoiceDeleted,
  VoiceCreated,
  VoiceCreatedV3,
  VoiceListV1,
  VoiceAnswer,
  VoiceList,
} from '../../contract/voices.ts';
import type { UploadedForm } from '../http/multipart-form.ts';
import { discardFiles, readForm } from '../http/multipart-form.ts';
import { requireValid, findProblems } from '../http/validation.ts';
import { showText } from '../http/validation.ts';
import type { AccountCall, Handler } from './call.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError, invalidRequest } from '../service-error.ts';
import type { FieldProblem } from '../service-error.ts';
import { voiceOf } from './speech-endpoints.ts';
import { voiceRecord, describeVoice, voiceV1Record } from '../voices/catalogue.ts';
import type { Catalogue, SpeakingVoice } from '../voices/catalogue.ts';
import type { ClonedVoice, VoiceOptions } from '../voices/voice-maker.ts';
import type { PersonalVoice } from '../voices/personal-voices.ts';

/** Handles `GET /voices` (docs/api/voices.md and docs/api/speech.md#v3). */
export const listVoices: Handler<'listVoices'> = ({ account, query, requestId }, { catalogue }) => {
  const { page = 1, pageSize = PAGE_SIZE_DEFAULT, includePersonal = false } = query;
  const { voices: all } = catalogue.of(account);
  const voices = all.filter(({ isPersonal }) => includePersonal || !isPersonal);
  const { items, ...whole } = pageOf(voices, { start: (page - 1) * pageSize, pageSize });
  const records = items.map((voice) => voiceRecord(voice));
  const body: VoiceList = { ...whole, page, items: records, requestId };
  return Response.json(body);
};

/** Handles `GET /voices/{voiceId}` (docs/api/speech.md#v3). */
export const getVoice: Handler<'getVoice'> = (
  { account, parameters, requestId },
  { catalogue },
) => {
  const { voiceId } = parameters;
  const voice = catalogue.of(account).voice(voiceId);
  if (voice === undefined) {
    throw new ServiceError('ERR_VOICE_NOT_FOUND', `No such voice: ${showText(voiceId)}`);
  }
  const body: VoiceAnswer = { ...voiceRecord(voice), requestId };
  return Response.json(body);
};

/** Handles `GET /voices` of v1 (docs/api/voices.md). */
export const listVoicesV1: Handler<'listVoicesV1'> = ({ account, query }, { catalogue }) =>
  Response.json(listV1(catalogue.of(account), query));

/**
 * Handles `POST /list-models`, a path from before v1 (docs/api/versions.md). The body contains the query parameters.
 */
export const listVoicesByPost: Handler<'listVoicesByPost'> = ({ account, body }, { catalogue }) =>
  Response.json(listV1(catalogue.of(account), body));

function listV1(catalogue: Catalogue, query: VoiceListV1Query): VoiceListV1 {
  const range = pageRangeOf(query);
  const voices = catalogue.voices.filter((voice) => matchesQuery(voice, query));
  const { items, ...whole } = pageOf(voices, range);
  return { ...whole, items: items.map((voice) => voiceV1Record(voice)) };
}

interface PageRange {
  readonly start: number;
  readonly pageSize: number;
}

function pageOf<Item>(items: readonly Item[], { start, pageSize }: PageRange) {
  return {
    total: items.length,
    page: Math.floor(start / pageSize) + 1,
    pageSize,
    totalPages: Math.ceil(items.length / pageSize),
    items: items.slice(start, start + pageSize),
  };
}

// By page number or by offset.
function pageRangeOf(query: VoiceListV1Query): PageRange {
  const { page, pageSize, limit, offset } = query;
  const isByOffset = limit !== undefined || offset !== undefined;
  if (isByOffset && (page !== undefined || pageSize !== undefined)) {
    const message = 'Use either page and pageSize, or limit and offset';
    throw invalidRequest([{ field: 'page', message }]);
  }
  if (isByOffset) return { start: offset ?? 0, pageSize: limit ?? PAGE_SIZE_DEFAULT };
  const size = pageSize ?? PAGE_SIZE_DEFAULT;
  return { start: ((page ?? 1) - 1) * size, pageSize: size };
}

function matchesQuery(voice: SpeakingVoice, query: VoiceListV1Query): boolean {
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

// `code` equals or specializes `range`: `en-US` specializes `en`.
function isWithin(code: string, range: string): boolean {
  return isSame(code, range) || code.toLowerCase().startsWith(`${range.toLowerCase()}-`);
}

/** Handles `POST /voices` of v1 and the older `POST /create-model` (docs/api/voices.md and docs/api/versions.md). */
export const createVoice: Handler<'createVoice'> = async (call, context) => {
  const { notice, voice } = await makeVoice(call, context);
  const body: VoiceCreated = { ...voiceCreated(voice), notices: [notice] };
  return Response.json(body);
};

/** Handles `POST /voices` of v3 (docs/api/versions.md). */
export const createVoiceV3: Handler<'createVoiceV3'> = async (call, context) => {
  const { notice, voice } = await makeVoice(call, context);
  const { modelIds = [], phonemes } = context.catalogue.of(call.account).voice(voice.id) ?? {};
  const body: VoiceCreatedV3 = {
    ...voiceCreatedV3(voice, modelIds, call.requestId),
    ...(phonemes === undefined ? {} : { phonemes }),
    notices: [notice],
  };
  return Response.json(body);
};

const RULES = {
  fileField: 'audioFiles',
  maxFiles: REFERENCE_FILES_MAX,
  maxFileBytes: REFERENCE_FILE_MAX_BYTES,
  extensions: REFERENCE_EXTENSIONS,
};

// Does not store the voice if the client disconnects first.
async function makeVoice(call: AccountCall, context: ServiceContext): Promise<ClonedVoice> {
  const { account: accountId } = call;
  const { generations, personalVoices, uploads, voiceMaker } = context;
  const generation = generations.start();
  const signal = AbortSignal.any([generation.signal, call.request.signal]);
  try {
    const form = await readForm(call.request, RULES, uploads);
    try {
      const fields = requireFields(form);
      personalVoices.requireCapacity(accountId);
      const cloned = await voiceMaker.clone(form.files, accountId, fields, signal);
      signal.throwIfAborted();
      personalVoices.add(cloned.voice, fields.referenceText);
      return cloned;
    } finally {
      await discardFiles(form.files);
    }
  } catch (cause) {
    if (!generation.signal.aborted) throw cause;
    throw new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is closing', { cause });
  } finally {
    generation.end();
  }
}

function requireFields(form: UploadedForm): VoiceOptions {
  const languages = languagesIn(form.fields['languages']);
  // The files were checked as they arrived.
  const value = { ...form.fields, audioFiles: [RULES.fileField] };
  const [first, ...others] = [
    ...fileProblems(form),
    ...('message' in languages ? [languages] : []),
    ...(form.fields['name']?.trim() === '' ? [NO_NAME] : []),
    ...findProblems(VoiceUpload, value, 'The form'),
  ];
  if (first !== undefined) throw invalidRequest([first, ...others]);
  const { name, description, referenceText, visibility } = requireValid(
    VoiceUpload,
    value,
    'The form',
  );
  return {
    name,
    description: description ?? '',
    referenceText,
    visibility: visibility ?? 'private',
    languages: 'message' in languages ? [] : languages,
  };
}

function fileProblems({ files, problems }: UploadedForm): readonly FieldProblem[] {
  const { fileField: field } = RULES;
  const isThere = files.length > 0 || problems.some((problem) => problem.field === field);
  return isThere
    ? problems
    : [...problems, { field, message: `${field} is missing; it is required` }];
}

const NO_NAME = { field: 'name', message: 'name has no visible character' };

const CODE = /^[a-z]{2,8}([-_][a-z0-9]{1,8})*$/i;

function languagesIn(json: string | undefined): readonly string[] | FieldProblem {
  if (json === undefined || json.trim() === '') return [];
  const value = parsed(json);
  const isList = Array.isArray(value) && value.length <= VOICE_LANGUAGES_MAX;
  if (isList && value.every((one) => isCode(one))) return value.map(String);
  const allowed = `a JSON array of at most ${VOICE_LANGUAGES_MAX} language codes, such as ["en-US"]`;
  return { field: 'languages', message: `languages is ${showText(json)}; allowed: ${allowed}` };
}

function isCode(value: unknown): boolean {
  return typeof value === 'string' && value.length <= LANGUAGE_MAX_CHARACTERS && CODE.test(value);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Handles `DELETE /voices/{voiceId}` of v1 and v3 (docs/api/voices.md and docs/api/versions.md). */
export const deleteVoice: Handler<'deleteVoice'> = ({ account, parameters }, context) =>
  remove(context, account, parameters.voiceId);

/** Handles `POST /delete-model`, a path from before v1 (docs/api/versions.md). The voice id is in the body. */
export const deleteModel: Handler<'deleteModel'> = ({ account, body }, context) =>
  remove(context, account, voiceOf(body));

function remove({ personalVoices }: ServiceContext, account: string, voiceId: string): Response {
  personalVoices.remove(account, voiceId);
  const body: VoiceDeleted = { voiceId };
  return Response.json(body);
}

/** Returns the v1 response body for a new voice (docs/api/voices.md). */
export function voiceCreated(voice: PersonalVoice): VoiceCreated {
  const { id, name, family, languages, made } = voice;
  return {
    voiceId: id,
    title: name,
    description: made.description,
    createdAt: new Date(made.createdAt).toISOString(),
    id,
    name,
    provider: family,
    isPersonal: true,
    visibility: made.visibility,
    languages: [...languages],
  };
}

function voiceCreatedV3(
  voice: PersonalVoice,
  modelIds: readonly string[],
  requestId: string,
): VoiceCreatedV3 {
  const { description, createdAt, visibility } = voiceCreated(voice);
  return {
    voiceId: voice.id,
    name: voice.name,
    isPersonal: true,
    primaryLanguage: voice.primaryLanguage,
    languages: [...voice.languages],
    modelIds: [...modelIds],
    description,
    createdAt,
    visibility,
    requestId,
  };
}
