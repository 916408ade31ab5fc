import { Failure } from '../../errors/failure.ts';
import type { Answer } from '../response.ts';
import { badAnswer, isRecord } from '../response.ts';
import type { AudioAnswer } from '../audio-response.ts';
import { audioAnswer, charged } from '../audio-response.ts';
import type { ApiClient } from '../client.ts';
import { readJson } from '../client.ts';
import type { AskForFile } from '../download.ts';
import { download, FILE_REQUEST } from '../download.ts';
import { reviseFailure } from '../failures.ts';

/** What a v1 request with `cache` is answered with (docs/api/speech.md#v1). */
interface StoredSpeech {
  readonly url: URL;
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
}

/**
 * Follows the address of stored audio; an answer that is audio itself is taken as it is, since what
 * counts is its content type.
 * @throws Failure (bad_answer) that says that it was paid for, with the address in its details
 */
export async function storedAudio(
  client: ApiClient,
  answer: Answer,
  signal: AbortSignal | undefined,
): Promise<AudioAnswer> {
  if (answer.headers.contentType !== 'application/json') return audioAnswer(client, answer);
  const { creditsUsed, quotaRemaining, url } = await readAddress(client, answer);
  const told = (error: unknown): unknown => (error instanceof Failure ? paid(error, url) : error);
  try {
    const request = { ...FILE_REQUEST, target: url, accept: 'audio/*', signal };
    const ask: AskForFile = (headers) => client.send({ ...request, headers });
    const stored = await download(client, ask, signal);
    const audio = await audioAnswer(client, stored, { isOpaqueFine: true });
    const body = { [Symbol.asyncIterator]: () => explained(audio.body, told) };
    return { ...audio, body, creditsUsed, quotaRemaining, requestId: answer.requestId };
  } catch (error) {
    throw told(error);
  }
}

async function readAddress(client: ApiClient, answer: Answer): Promise<StoredSpeech> {
  const body = await readJson(answer).catch((error: unknown) => {
    throw error instanceof Failure ? charged(error) : error;
  });
  const fields = isRecord(body) ? body : {};
  const { audio_url: address, credits_used: credits, quota_remaining: quota } = fields;
  const { baseUrl } = client.address;
  const url = typeof address === 'string' ? webAddress(address, baseUrl) : undefined;
  if (url === undefined) {
    throw charged(badAnswer('the answer has no address of audio in it', answer));
  }
  return {
    url,
    creditsUsed: typeof credits === 'number' ? credits : answer.headers.creditsUsed,
    quotaRemaining: typeof quota === 'number' ? quota : answer.headers.quotaRemaining,
  };
}

function webAddress(address: string, base: URL): URL | undefined {
  if (address === '' || !URL.canParse(address, base.href)) return undefined;
  const url = new URL(address, base);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}

async function* explained(
  body: AsyncIterable<Uint8Array>,
  told: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    throw told(error);
  }
}

/** The request was answered and paid for; only the way to its audio failed. */
function paid(failure: Failure, url: URL): Failure {
  const { details, message } = failure;
  return reviseFailure(failure, {
    message: `the stored audio cannot be fetched: ${message}`,
    exit: 'badAnswer',
    // What to do about it is told with the key that gets it again.
    hint: undefined,
    billed: 'yes',
    details: { ...details, audio_url: url.href },
  });
}
