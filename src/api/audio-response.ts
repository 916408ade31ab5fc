import type { Failure } from '../errors/failure.ts';
import type { ApiClient } from './client.ts';
import { maybeBilled, reviseFailure } from './failures.ts';
import type { ApiResponse } from './response.ts';
import { badResponse, parseServiceError } from './response.ts';
import type { Framing } from './transport/exchange.ts';

/** Audio as it arrives. */
export interface AudioResponse extends FileResponse {
  readonly quotaRemaining: number | undefined;
  readonly ignoredParameters: readonly string[];
}

/**
 * Checks that a response is audio: its status first, then its media type.
 * @param options `isOpaqueFine` also accepts octet streams, which file storage sends
 * @throws Failure (bad_answer), which may have been billed
 */
export async function requireAudio(
  client: Pick<ApiClient, 'maxBytes' | 'redact'>,
  response: ApiResponse,
  { isOpaqueFine = false }: { readonly isOpaqueFine?: boolean } = {},
): Promise<AudioResponse> {
  const { contentLength, framing, headers, requestId, status } = response;
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
    body: { [Symbol.asyncIterator]: () => notEmpty(response) },
    contentType,
    contentLength,
    pcm: pcmLayout(headers.get('content-type') ?? ''),
    framing,
    requestId,
    maxBytes: client.maxBytes,
    creditsUsed: headers.creditsUsed,
    quotaRemaining: headers.quotaRemaining,
    ignoredParameters: headers.ignoredParameters,
    discard: () => response.discard(),
  };
}

const AUDIO_TYPE = /^audio\/|^application\/ogg$/;
/** The types that file storage uses for any file. */
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

/** Yields the body. @throws Failure (bad_answer) at its end if it was empty */
export async function* notEmpty(
  response: ApiResponse,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    yield chunk;
  }
  if (size === 0) throw maybeBilled(badResponse('the response is empty', response));
}

export interface PcmLayout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitDepth: 16;
}

/** A file as it arrives: audio, an image or a video. */
export interface FileResponse {
  /**
   * The bytes, to be read once, with back-pressure. Throws a Failure (bad_answer) if the body is empty, cut
   * off, stalled or longer than announced.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** The media type without parameters. */
  readonly contentType: string;
  readonly contentLength: number | undefined;
  /** The layout of raw samples, if the media type names it. */
  readonly pcm: PcmLayout | undefined;
  /** `close` ends with the connection and may have been cut off unnoticed: check the bytes. */
  readonly framing: Framing;
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
  /** Reading stops after this many bytes (`--max-bytes`); undefined: a limit that suits the text. */
  readonly maxBytes?: number | undefined;
  discard(): void;
  /** Returns the memory of a chunk for reuse; the caller must not read the chunk any more. */
  reuse?(chunk: Uint8Array): void;
}

/** Resolves a URL from a response against the base URL; undefined unless it is http or https. */
export function resolveUrl(
  { address }: Pick<ApiClient, 'address'>,
  text: unknown,
): URL | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  if (!URL.canParse(text, address.baseUrl.href)) return undefined;
  const url = new URL(text, address.baseUrl);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}
