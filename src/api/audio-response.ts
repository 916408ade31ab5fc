import type { Failure } from '../errors/failure.ts';
import type { ApiClient } from './client.ts';
import { charged, reviseFailure } from './failures.ts';
import type { Answer } from './response.ts';
import { badAnswer, parseServiceError } from './response.ts';
import type { Framing } from './transport/exchange.ts';

/** Speech as it arrives; its media type is always one of audio. */
export interface AudioAnswer extends FileAnswer {
  readonly quotaRemaining: number | undefined;
  readonly ignoredParameters: readonly string[];
}

/**
 * The audio in an answer of success.
 * @param options `isOpaqueFine`: bytes of no type may be audio too, as where files are stored
 * @throws Failure; status first, then content type: a 200 that is not audio is of no use, whatever
 *   error its JSON names
 */
export async function audioAnswer(
  client: Pick<ApiClient, 'maxBytes' | 'redact'>,
  answer: Answer,
  { isOpaqueFine = false }: { readonly isOpaqueFine?: boolean } = {},
): Promise<AudioAnswer> {
  const { contentLength, framing, headers, requestId, status } = answer;
  const { contentType = 'of no type' } = headers;
  if (status !== 200 || contentLength === 0) {
    answer.discard();
    throw charged(badAnswer(`the answer (${status}) has no audio in it`, answer));
  }
  const isFine = AUDIO_TYPE.test(contentType) || (isOpaqueFine && OPAQUE_TYPE.test(contentType));
  if (!isFine) {
    throw client.redact(await notAudio(answer, contentType));
  }
  return {
    body: { [Symbol.asyncIterator]: () => notEmpty(answer) },
    contentType,
    contentLength,
    pcm: pcmLayout(headers.get('content-type') ?? ''),
    framing,
    requestId,
    maxBytes: client.maxBytes,
    creditsUsed: headers.creditsUsed,
    quotaRemaining: headers.quotaRemaining,
    ignoredParameters: headers.ignoredParameters,
    discard: () => answer.discard(),
  };
}

const AUDIO_TYPE = /^audio\/|^application\/ogg$/;
/** What file stores say of anything. */
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

/** Whatever it says, an answer of success without audio is no answer. */
async function notAudio(answer: Answer, contentType: string): Promise<Failure> {
  const error = parseServiceError(await answer.errorText(), answer.headers);
  const said = error.message === undefined ? '' : `: ${error.message}`;
  const failure = charged(badAnswer(`the answer is ${contentType}, not audio${said}`, answer));
  const { code = failure.code, details, requestId = failure.requestId } = error;
  return reviseFailure(failure, { code, details, requestId });
}

/** The bytes of a body that must have some; throws a Failure (bad_answer) at the end of one without. */
export async function* notEmpty(answer: Answer): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.length;
    yield chunk;
  }
  if (size === 0) throw charged(badAnswer('the answer is empty', answer));
}

/** Raw samples of 16 bits. */
export interface PcmLayout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitDepth: 16;
}

/** A file as it arrives: audio, a picture or a video. */
export interface FileAnswer {
  /**
   * The bytes, to be read once, with back-pressure. Throws a Failure (bad_answer) when they are
   * cut, stop, are longer than announced, or when there are none.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Media type without parameters. */
  readonly contentType: string;
  readonly contentLength: number | undefined;
  /** How raw samples are to be read, where the media type says so. */
  readonly pcm: PcmLayout | undefined;
  /** A body that ends with the connection (`close`) may have been cut unnoticed: check its bytes. */
  readonly framing: Framing;
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
  /** More bytes are not read (`--max-bytes`); undefined for what suits the text. */
  readonly maxBytes?: number | undefined;
  discard(): void;
  /**
   * Gives the memory of a chunk of the body back, to be written over: nobody may look at it after that.
   * A chunk that is not given back stays as it is.
   */
  reuse?(chunk: Uint8Array): void;
}

/** An address in an answer, also one below the service itself; `undefined` for what is none of the web. */
export function answeredUrl(
  { address }: Pick<ApiClient, 'address'>,
  text: unknown,
): URL | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  if (!URL.canParse(text, address.baseUrl.href)) return undefined;
  const url = new URL(text, address.baseUrl);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}
