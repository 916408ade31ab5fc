import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import type { ApiClient } from '../client.ts';
import { endpoint } from '../request.ts';
import type { RequestSpec, StreamedBody } from '../request.ts';
import type { MadeVoice } from './voices.ts';
import { readMadeVoice, refusedVoice } from './voices.ts';
import type { FilePart, FormPart } from '../multipart.ts';
import { multipartBody } from '../multipart.ts';

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

export interface CreateVoiceOptions {
  readonly requestId?: string | undefined;
  /** Sent where the person gave one; that it is heeded is not documented. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

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
