import {
  LANGUAGE_MAX_CHARACTERS,
  REFERENCE_FILE_MAX_BYTES,
  REFERENCE_FILES_MAX,
  VOICE_LANGUAGES_MAX,
} from '../../contract/limits.ts';
import { REFERENCE_EXTENSIONS } from '../../contract/reference-audio.ts';
import { VoiceUpload } from '../../contract/schemas/voice-create.ts';
import { findProblems, requireValid } from '../http/validation.ts';
import type { VoiceWishes } from '../personal-voices/clone-voice.ts';
import type { PersonalVoice } from '../personal-voices/voice-records.ts';
import type { ServiceContext } from '../service-context.ts';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import type { UploadedForm } from '../uploads/multipart-form.ts';
import { discardFiles, readForm } from '../uploads/multipart-form.ts';
import { showText } from '../wording/show-value.ts';
import type { AccountCall, Handler } from './call.ts';
import { voiceCreated, voiceCreatedV3 } from './voice-answers.ts';

/** `POST /voices` of v1 and `POST /create-model` from before it (spec sections 4.5 and 9). */
export const createVoice: Handler<AccountCall> = async (call, context) =>
  Response.json(voiceCreated(await makeVoice(call, context)));

/** `POST /voices` of v3, to which that of v1 maps (spec section 9). */
export const createVoiceV3: Handler<AccountCall> = async (call, context) =>
  Response.json(voiceCreatedV3(await makeVoice(call, context), call.requestId));

const RULES = {
  fileField: 'audioFiles',
  maxFiles: REFERENCE_FILES_MAX,
  maxFileBytes: REFERENCE_FILE_MAX_BYTES,
  extensions: REFERENCE_EXTENSIONS,
};

/** Takes the form in, makes the voice and keeps it; a client that has gone by then gets none. */
async function makeVoice(call: AccountCall, context: ServiceContext): Promise<PersonalVoice> {
  const { generations, uploads } = context;
  const generation = generations.start();
  const signal = AbortSignal.any([generation.signal, call.request.signal]);
  try {
    const form = await readForm(call.request, RULES, uploads);
    try {
      return await keepVoice(call, context, { form, signal });
    } finally {
      await discardFiles(form.files);
    }
  } catch (error) {
    throw generation.signal.aborted ? closing(error) : error;
  } finally {
    generation.end();
  }
}

async function keepVoice(
  { account: accountId }: AccountCall,
  { personalVoices, voiceMaker }: ServiceContext,
  { form, signal }: { readonly form: UploadedForm; readonly signal: AbortSignal },
): Promise<PersonalVoice> {
  const { referenceText, ...wishes } = requireFields(form);
  personalVoices.requireRoom(accountId);
  const { files } = form;
  const voice = await voiceMaker.clone({ files, wishes: { ...wishes, accountId } }, signal);
  signal.throwIfAborted();
  personalVoices.add(voice, referenceText);
  return voice;
}

/** @throws ServiceError 400 that names everything that is wrong with the form */
function requireFields(form: UploadedForm): Fields {
  const languages = languagesIn(form.fields['languages']);
  // The files were looked at as they came.
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

interface Fields extends Omit<VoiceWishes, 'accountId'> {
  readonly referenceText: string | undefined;
}

function fileProblems({ files, problems }: UploadedForm): readonly FieldProblem[] {
  const { fileField: field } = RULES;
  const isThere = files.length > 0 || problems.some((problem) => problem.field === field);
  return isThere
    ? problems
    : [...problems, { field, message: `${field} is missing; it is required` }];
}

const NO_NAME = { field: 'name', message: 'name has no character that can be seen' };

const CODE = /^[a-z]{2,8}([-_][a-z0-9]{1,8})*$/i;

/** The codes that a form names; what is wrong with them where something is. */
function languagesIn(json: string | undefined): readonly string[] | FieldProblem {
  if (json === undefined || json.trim() === '') return [];
  const value = parsed(json);
  const isList = Array.isArray(value) && value.length <= VOICE_LANGUAGES_MAX;
  if (isList && value.every((one) => isCode(one))) return value.map(String);
  const allowed = `a JSON array of at most ${VOICE_LANGUAGES_MAX} language codes, such as ["en-US"]`;
  return { field: 'languages', message: `languages is ${showText(json)}; allowed is ${allowed}` };
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

function closing(cause: unknown): ServiceError {
  return new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is closing', { cause });
}
