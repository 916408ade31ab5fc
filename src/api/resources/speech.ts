import type { AudioFormat } from '../../contract/values.ts';
import type { Charge } from '../../contract/charges.ts';
import { chargeOf } from '../../contract/charges.ts';
import type { SpeechControls } from '../../contract/speech.ts';
import type { SpeechSurface, SurfaceName, SpeechField } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { Failure } from '../../errors/failure.ts';
import type { AudioResponse } from '../audio-response.ts';
import { resolveUrl, requireAudio } from '../audio-response.ts';
import type { ApiClient } from '../client.ts';
import { readBilledJson } from '../client.ts';
import { download, FILE_REQUEST } from '../download.ts';
import { maybeBilled, reviseFailure } from '../failures.ts';
import { endpoint, jsonBody } from '../request.ts';
import type { BilledOptions, RequestSpec } from '../request.ts';
import type { ApiResponse, UnknownRecord } from '../response.ts';
import { badResponse, firstNumber, firstRecord } from '../response.ts';
import { isModelAvailable } from './models.ts';

/** Every surface requires a key, except the compatibility surfaces, which do not know it. */
export interface SpeechOptions extends Omit<BilledOptions, 'idempotencyKey'> {
  readonly idempotencyKey?: BilledOptions['idempotencyKey'] | undefined;
  /** Default v3. */
  readonly surface?: SurfaceName | undefined;
  /** Stores the audio and downloads it from there (v1). */
  readonly cache?: boolean | undefined;
}

/** Builds the request of {@link synthesize}. */
export function speechRequest(
  client: ApiClient,
  order: SpeechOrder,
  options: SpeechOptions,
): RequestSpec {
  const { onNewKey, requestId, signal } = options;
  const surface: SpeechSurface = SPEECH_SURFACES[options.surface ?? 'v3'];
  const call = endpoint(surface.endpoint);
  const { modelId } = order;
  return {
    ...call,
    accept: SPEECH_TYPES,
    headers: modelHeader(surface, modelId),
    body: jsonBody({
      ...speechBody(order, surface),
      ...(surface.canCache && options.cache === true ? { cache: true } : {}),
    }),
    billed: true,
    ...repetition(call.method, call.target, options),
    requestId,
    signal,
    onNewKey,
    modelStillAvailable:
      modelId === undefined ? undefined : () => isModelAvailable(client, modelId, signal),
  };
}

const SPEECH_TYPES = 'audio/*, application/json';

function modelHeader(
  { modelHeader: name }: SpeechSurface,
  modelId: string | undefined,
): RequestSpec['headers'] {
  return name === undefined || modelId === undefined ? undefined : { [name]: modelId };
}

/** Returns the key and retry rule of a surface. */
function repetition(
  method: string,
  path: string,
  { idempotencyKey }: SpeechOptions,
): Pick<RequestSpec, 'key' | 'lookAt' | 'retry'> {
  const { recognizedBy: sentAs } = chargeOf(method, path);
  if (sentAs === undefined) return { retry: 'never', lookAt: LOOK_AT };
  if (idempotencyKey === undefined) throw new TypeError(`${path} requires an idempotency key`);
  return { retry: 'keyed', key: { ...idempotencyKey, sentAs } };
}

/** Returns the header by which a surface recognizes repeated requests; undefined if it does not. */
export function recognizedBy(surface: SurfaceName): Charge['recognizedBy'] {
  const { method, target } = endpoint(SPEECH_SURFACES[surface].endpoint);
  return chargeOf(method, target).recognizedBy;
}

const LOOK_AT =
  'The service cannot recognize a repeated request. Check with `foley profile` whether credits were ' +
  'used before you send it again.';

/**
 * Speaks a text synchronously (docs/api/README.md); resolves when the audio begins to arrive.
 * @throws Failure; checks the status first, then the media type
 */
export async function synthesize(
  client: ApiClient,
  order: SpeechOrder,
  options: SpeechOptions,
): Promise<AudioResponse> {
  return sendSpeech(client, speechRequest(client, order, options), options.cache === true);
}

/**
 * Sends a request built by {@link speechRequest}.
 * @param cache the response is the URL of stored audio
 * @throws Failure as {@link synthesize}
 */
export async function sendSpeech(
  client: ApiClient,
  request: RequestSpec,
  cache: boolean,
): Promise<AudioResponse> {
  const response = await client.send({ ...request, accept: SPEECH_TYPES });
  return cache ? storedAudio(client, response, request.signal) : requireAudio(client, response);
}

/**
 * Downloads the stored audio that a v1 request with `cache` points to (docs/api/speech.md#v1). A response
 * that is audio itself is used as it is.
 * @throws Failure (bad_answer) marked as billed, with the URL in its details
 */
async function storedAudio(
  client: ApiClient,
  response: ApiResponse,
  signal: AbortSignal | undefined,
): Promise<AudioResponse> {
  if (response.headers.contentType !== 'application/json') return requireAudio(client, response);
  const fields = firstRecord(await readBilledJson(response)) ?? {};
  const url = resolveUrl(client, fields['audio_url']);
  if (url === undefined) {
    throw maybeBilled(badResponse('the response has no URL of its audio', response));
  }
  const billed = (error: unknown): unknown =>
    error instanceof Failure ? billedFailure(error, url) : error;
  try {
    const request = { ...FILE_REQUEST, target: url, accept: 'audio/*', signal };
    const stored = await download(
      client,
      (headers) => client.send({ ...request, headers }),
      signal,
    );
    const audio = await requireAudio(client, stored, { isOpaqueFine: true });
    return {
      ...audio,
      body: { [Symbol.asyncIterator]: () => withErrors(audio.body, billed) },
      creditsUsed: firstNumber(fields['credits_used']) ?? response.headers.creditsUsed,
      quotaRemaining: firstNumber(fields['quota_remaining']) ?? response.headers.quotaRemaining,
      requestId: response.requestId,
    };
  } catch (error) {
    throw billed(error);
  }
}

async function* withErrors(
  body: AsyncIterable<Uint8Array>,
  mapError: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    throw mapError(error);
  }
}

/** The request was billed; only the download of its audio failed. */
function billedFailure(failure: Failure, url: URL): Failure {
  const { details, message } = failure;
  return reviseFailure(failure, {
    message: `cannot download the stored audio: ${message}`,
    exit: 'badAnswer',
    // The caller adds the hint: it knows the key that fetches the audio again.
    hint: undefined,
    billed: 'yes',
    details: { ...details, audio_url: url.href },
  });
}

/** A text with its voice, model, format and controls, for any surface. */
export interface SpeechOrder extends SpeechControls {
  readonly text: string;
  readonly voiceId: string;
  readonly modelId?: string;
  readonly format?: AudioFormat;
}

/** Returns the body of a surface, without fields that it does not have. */
export function speechBody(order: SpeechOrder, { fields }: SpeechSurface): object {
  const places: Readonly<Partial<Record<string, string>>> = fields;
  return Object.entries(order).reduce<UnknownRecord>((body, [field, value]) => {
    const place = places[field];
    return place === undefined ? body : setPath(body, place.split('.'), value);
  }, {});
}

/** Whether a surface has a field. */
export function hasField({ fields }: SpeechSurface, field: SpeechField): boolean {
  return fields[field] !== undefined;
}

function setPath(
  record: UnknownRecord,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): UnknownRecord {
  if (rest.length === 0) return { ...record, [name]: value };
  return { ...record, [name]: setPath(firstRecord(record[name]) ?? {}, rest, value) };
}
