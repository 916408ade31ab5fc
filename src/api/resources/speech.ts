import type { PcmLayout } from '../../audio/wav.ts';
import type { AudioFormat } from '../../contract/values.ts';
import type { EndpointCharge } from '../../contract/endpoint-lookup.ts';
import { chargeOf } from '../../contract/endpoint-lookup.ts';
import type { AlignedWord, Pronunciation, SpeechControls } from '../../contract/speech.ts';
import type { CodePointRange } from '../../contract/unspoken.ts';
import type { SpeechSurface, SurfaceName, SpeechField } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { Failure } from '../../errors/failure.ts';
import type { ApiClient } from '../client.ts';
import { readBilledJson } from '../client.ts';
import { download, FILE_REQUEST } from '../download.ts';
import { isNotFound, maybeBilled, reviseFailure } from '../failures.ts';
import { endpoint, jsonBody, safeRequest } from '../request.ts';
import type { IdempotencyKey, RequestOptions, RequestSpec, SentKey } from '../request.ts';
import type { ApiResponse, UnknownRecord, UnreadResponse } from '../response.ts';
import {
  badResponse,
  firstNumber,
  firstRecord,
  firstText,
  parseServiceError,
} from '../response.ts';
import type { Framing } from '../transport/exchange.ts';
import { modelCheck } from './models.ts';

/**
 * Options of a speech request. The idempotency key may be omitted only for the endpoints that imitate other speech
 * APIs.
 */
export interface SpeechOptions extends RequestOptions {
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** The endpoint family that receives the request; default v3. */
  readonly surface?: SurfaceName | undefined;
  /**
   * Whether the service stores the audio and responds with a URL. foley then downloads the audio from this URL. v1
   * only.
   */
  readonly cache?: boolean | undefined;
}

/**
 * Returns why foley's own service refunded a request; undefined if it did not refund it.
 * @param id idempotency key or request id of the request
 */
export async function getRefund(
  client: ApiClient,
  id: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const request = safeRequest('getRequestError', { requestId: id }, { signal });
    const { value } = await client.json(request, (body) =>
      firstText(firstRecord(body)?.['message']),
    );
    return value;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Builds the request that {@link synthesize} sends. */
export function speechRequest(
  client: ApiClient,
  order: SpeechOrder,
  options: SpeechOptions,
): RequestSpec {
  const { onNewKey, requestId, signal } = options;
  const surface: SpeechSurface = SPEECH_SURFACES[options.surface ?? 'v3'];
  const call = endpoint(surface.endpoint);
  const key = keyOf(call.method, call.target, options);
  return {
    ...call,
    accept: SPEECH_TYPES,
    headers: modelHeader(surface, order.modelId),
    body: jsonBody({
      ...speechBody(order, surface),
      ...(surface.canCache && options.cache === true ? { cache: true } : {}),
    }),
    billed: true,
    retry: key === undefined ? 'never' : 'keyed',
    key,
    lookAt: key === undefined ? LOOK_AT : undefined,
    requestId,
    signal,
    onNewKey,
    modelStillAvailable: modelCheck(client, order.modelId, signal),
  };
}

const SPEECH_TYPES = 'audio/*, application/json';

function modelHeader(
  { modelHeader: name }: SpeechSurface,
  modelId: string | undefined,
): RequestSpec['headers'] {
  return name === undefined || modelId === undefined ? undefined : { [name]: modelId };
}

function keyOf(
  method: string,
  path: string,
  { idempotencyKey }: SpeechOptions,
): SentKey | undefined {
  const { idempotencyHeader: sentAs } = chargeOf(method, path);
  if (sentAs === undefined) return undefined;
  if (idempotencyKey === undefined) throw new TypeError(`${path} requires an idempotency key`);
  return { ...idempotencyKey, sentAs };
}

/** Returns the header by which an endpoint family recognizes repeated requests; undefined if there is none. */
export function idempotencyHeader(surface: SurfaceName): EndpointCharge['idempotencyHeader'] {
  const { method, target } = endpoint(SPEECH_SURFACES[surface].endpoint);
  return chargeOf(method, target).idempotencyHeader;
}

const LOOK_AT =
  'The service cannot recognize a repeated request. Check with `foley profile` whether credits were ' +
  'used before you send it again.';

/**
 * Speaks a text in one request (docs/api/README.md). Resolves when the response begins.
 * @throws Failure for an error status, or a response that is not audio
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
 * @param cache true if the response contains a URL of stored audio; foley then downloads the audio
 * @throws the errors of {@link synthesize}
 */
export async function sendSpeech(
  client: ApiClient,
  request: RequestSpec,
  cache: boolean,
): Promise<AudioResponse> {
  const response = await client.send({ ...request, accept: SPEECH_TYPES });
  return cache ? storedAudio(client, response, request.signal) : requireAudio(client, response);
}

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

function billedFailure(failure: Failure, url: URL): Failure {
  const { details, message } = failure;
  return reviseFailure(failure, {
    message: `cannot download the stored audio: ${message}`,
    exit: 'badAnswer',
    // The caller adds the hint, because it knows the idempotency key.
    hint: undefined,
    billed: 'yes',
    details: { ...details, audio_url: url.href },
  });
}

/** A text to speak and its voice, model, format and controls, for any endpoint family. */
export interface SpeechOrder extends SpeechControls {
  readonly text: string;
  readonly voiceId: string;
  readonly modelId?: string;
  readonly format?: AudioFormat;
  /** Phonemes of words. The request has only those of words that its text may contain. */
  readonly pronunciations?: readonly Pronunciation[];
}

/** Returns the JSON body of a speech request. Omits the fields that the endpoint family does not support. */
export function speechBody(order: SpeechOrder, { fields }: SpeechSurface): object {
  const places: Readonly<Partial<Record<string, string>>> = fields;
  const { pronunciations: all, ...rest } = order;
  const pronunciations = all === undefined ? [] : occurringIn(order.text, all);
  const sent = pronunciations.length === 0 ? rest : { ...rest, pronunciations };
  return Object.entries(sent).reduce<UnknownRecord>((body, [field, value]) => {
    const place = places[field];
    return place === undefined ? body : setPath(body, place.split('.'), value);
  }, {});
}

// A part of a long text has fewer words than the text. Compares only the beginnings of phrases.
function occurringIn(
  text: string,
  pronunciations: readonly Pronunciation[],
): readonly Pronunciation[] {
  const folded = text.normalize('NFC').toLowerCase();
  return pronunciations.filter(({ word }) => {
    const [first = word] = /[\p{L}\p{N}\p{M}]+/u.exec(word) ?? [];
    return folded.includes(first.normalize('NFC').toLowerCase());
  });
}

/** Returns whether an endpoint family supports a field. */
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

/** What a response to a speech request reports about the request. */
export interface SpeechReport {
  /** The request id that the service returned, else the id that foley sent. */
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  readonly ignoredParameters: readonly string[];
  /** The ranges of the text that the voice does not speak; undefined if the service reports none. */
  readonly unspoken?: readonly CodePointRange[];
  /** Set if the audio was bought by an earlier request and comes from this computer (`--reuse`). */
  readonly reused?: ReusedAudio | undefined;
}

export interface AudioResponse extends FileResponse, SpeechReport {
  /** The word times of an aligned stream; undefined until the whole body has been read. */
  readonly outcome?: AlignedOutcome | undefined;
}

export interface AlignedOutcome {
  /** The words in text order, with times relative to the start of the audio. */
  readonly words: readonly AlignedWord[];
  /** Whether the service returned times for every word. If false, words may be missing. */
  readonly isComplete: boolean;
  readonly generationId?: string | undefined;
}

export interface ReusedAudio {
  /** What the audio cost when it was bought, in credits; undefined if unknown. */
  readonly creditsSaved: number | undefined;
}

/**
 * Checks that a response contains audio, by its status and its media type.
 * @param options `isOpaqueFine` also accepts `application/octet-stream`, the media type that file storage sends
 * @throws Failure of kind `bad_answer`, marked as possibly billed
 */
export async function requireAudio(
  client: ApiClient,
  response: ApiResponse,
  { isOpaqueFine = false }: { readonly isOpaqueFine?: boolean } = {},
): Promise<AudioResponse> {
  const { contentLength, framing, headers, requestId, rest, status } = response;
  const { contentType = 'of no type' } = headers;
  if (status !== 200 || contentLength === 0) {
    response.discard();
    throw maybeBilled(badResponse(`the response (${status}) has no audio`, response));
  }
  const isFine = AUDIO_TYPE.test(contentType) || (isOpaqueFine && OPAQUE_TYPE.test(contentType));
  if (!isFine) {
    throw client.redact(await notAudio(response, contentType));
  }
  return {
    body: { [Symbol.asyncIterator]: () => requireNonEmpty(response) },
    contentType,
    contentLength,
    pcm: pcmLayout(headers.get('content-type') ?? ''),
    framing,
    rest,
    requestId,
    maxBytes: client.maxBytes,
    creditsUsed: headers.creditsUsed,
    quotaRemaining: headers.quotaRemaining,
    ignoredParameters: headers.ignoredParameters,
    unspoken: headers.unspoken,
    discard: () => response.discard(),
  };
}

const AUDIO_TYPE = /^audio\/|^application\/ogg$/;
const OPAQUE_TYPE = /^(application|binary)\/octet-stream$/;

function pcmLayout(mediaType: string): PcmLayout | undefined {
  const parameter = (name: string): number | undefined => {
    const value = new RegExp(`;\\s*${name}="?(\\d{1,6})\\b`, 'i').exec(mediaType)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  const sampleRate = parameter('rate');
  if (sampleRate === undefined || sampleRate === 0) return undefined;
  return { sampleRate, channels: parameter('channels') ?? 1, bitDepth: 16 };
}

async function notAudio(response: ApiResponse, contentType: string): Promise<Failure> {
  const error = parseServiceError(await response.errorText(), response.headers);
  const said = error.message === undefined ? '' : `: ${error.message}`;
  const failure = maybeBilled(
    badResponse(`the response is ${contentType}, not audio${said}`, response),
  );
  const { code = failure.code, details, requestId = failure.requestId } = error;
  return reviseFailure(failure, { code, details, requestId });
}

/** Yields the chunks of a body. @throws Failure of kind `bad_answer` if the body is empty */
export async function* requireNonEmpty(
  response: ApiResponse,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    yield chunk;
  }
  if (size === 0) throw maybeBilled(badResponse('the response is empty', response));
}

/**
 * A file that is read as a stream: audio, an image or a video. Reading its body also throws a Failure of kind
 * `bad_answer` if the body is empty.
 */
export interface FileResponse extends UnreadResponse {
  /** The media type, without its parameters. */
  readonly contentType: string;
  readonly contentLength: number | undefined;
  /** The layout of raw PCM samples, if the media type describes it. */
  readonly pcm: PcmLayout | undefined;
  /** How HTTP marks the end of the body. With `close`, the caller must check that the file is complete. */
  readonly framing: Framing;
  readonly creditsUsed: number | undefined;
  /** The ranges of the text that the voice does not speak; undefined if the service reports none. */
  readonly unspoken?: readonly CodePointRange[];
  /** Maximum size of the file in bytes (`--max-bytes`); default: a limit that depends on the length of the text. */
  readonly maxBytes?: number | undefined;
  /** Takes back a chunk so that its memory can be reused. The caller must not read the chunk afterwards. */
  reuse?(chunk: Uint8Array): void;
}

/**
 * Resolves a URL from a response against the base URL. Returns undefined for an invalid URL, or a scheme other than
 * http and https.
 */
export function resolveUrl({ address }: ApiClient, text: unknown): URL | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  if (!URL.canParse(text, address.baseUrl.href)) return undefined;
  const url = new URL(text, address.baseUrl);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}
