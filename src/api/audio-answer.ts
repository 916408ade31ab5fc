import type { Failure } from '../errors/failure.ts';
import type { Answer } from './answer.ts';
import { badAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import type { FileAnswer, PcmLayout } from './file-answer.ts';
import { reviseFailure } from './revise-failure.ts';
import { parseServiceError } from './service-error.ts';

export type { PcmLayout };

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

/** Whatever it says, an answer of success without audio is no answer (contract, section 5). */
async function notAudio(answer: Answer, contentType: string): Promise<Failure> {
  const error = parseServiceError(await answer.errorText(), answer.headers);
  const said = error.message === undefined ? '' : `: ${error.message}`;
  const failure = charged(badAnswer(`the answer is ${contentType}, not audio${said}`, answer));
  const { code = failure.code, details, requestId = failure.requestId } = error;
  return reviseFailure(failure, { code, details, requestId });
}

/** A 200 may have been charged for, whatever its body is. */
export function charged(failure: Failure): Failure {
  return reviseFailure(failure, { billed: 'unknown' });
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
