import type { SpeechRequest } from '../contract/schemas/speech.ts';
import type { Failure } from '../errors/failure.ts';
import type { Answer } from './answer.ts';
import { badAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import { endpoint } from './endpoint.ts';
import { isModelAvailable } from './models.ts';
import type { IdempotencyKey, RequestSpec } from './request.ts';
import { jsonBody } from './request.ts';
import type { Framing } from './response-body.ts';
import { reviseFailure } from './revise-failure.ts';
import { parseServiceError } from './service-error.ts';

export interface SpeechOptions {
  readonly idempotencyKey: Pick<IdempotencyKey, 'madeByTool' | 'value'>;
  readonly requestId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told before a refunded request goes out again under a new key, so that it is recorded first. */
  readonly onNewKey?: ((key: string) => Promise<void>) | undefined;
}

/** Speech as it arrives. */
export interface AudioAnswer {
  /**
   * The bytes, to be read once, with back-pressure. Throws a Failure (bad_answer) when they are
   * cut, stop, are longer than announced, or when there are none.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Media type without parameters; always one of audio. */
  readonly contentType: string;
  readonly contentLength: number | undefined;
  /** A body that ends with the connection (`close`) may have been cut unnoticed: check its bytes. */
  readonly framing: Framing;
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  readonly ignoredParameters: readonly string[];
  discard(): void;
}

/** The request of {@link synthesize}, to be described or sent. */
export function speechRequest(
  client: ApiClient,
  body: SpeechRequest,
  { idempotencyKey, onNewKey, requestId, signal }: SpeechOptions,
): RequestSpec {
  const { modelId } = body;
  return {
    ...endpoint('createSpeech'),
    accept: 'audio/*, application/json',
    body: jsonBody(body),
    billed: true,
    retry: 'keyed',
    key: { ...idempotencyKey, sentAs: 'Idempotency-Key' },
    requestId,
    signal,
    onNewKey,
    modelStillAvailable:
      modelId === undefined ? undefined : () => isModelAvailable(client, modelId, signal),
  };
}

/**
 * Speaks a text synchronously (spec section 4.1): resolves when the audio begins to arrive.
 * @throws Failure; status first, then content type: a 200 that is not audio is of no use, whatever
 *   error its JSON names
 */
export async function synthesize(
  client: ApiClient,
  body: SpeechRequest,
  options: SpeechOptions,
): Promise<AudioAnswer> {
  return audioAnswer(client, await client.send(speechRequest(client, body, options)));
}

async function audioAnswer(client: ApiClient, answer: Answer): Promise<AudioAnswer> {
  const { contentLength, framing, headers, requestId, status } = answer;
  const { contentType = 'of no type' } = headers;
  if (status !== 200 || contentLength === 0) {
    answer.discard();
    throw charged(badAnswer(`the answer (${status}) has no audio in it`, answer));
  }
  if (!/^audio\/|^application\/ogg$/.test(contentType)) {
    throw client.redact(await notAudio(answer, contentType));
  }
  return {
    body: { [Symbol.asyncIterator]: () => notEmpty(answer) },
    contentType,
    contentLength,
    framing,
    requestId,
    creditsUsed: headers.creditsUsed,
    quotaRemaining: headers.quotaRemaining,
    ignoredParameters: headers.ignoredParameters,
    discard: () => answer.discard(),
  };
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
function charged(failure: Failure): Failure {
  return reviseFailure(failure, { billed: 'unknown' });
}

async function* notEmpty(answer: Answer): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.length;
    yield chunk;
  }
  if (size === 0) throw charged(badAnswer('the answer is empty', answer));
}
