import { crc32 } from 'node:zlib';
import { Failure } from '../errors/failure.ts';
import type { Answer } from './response.ts';
import { badAnswer } from './response.ts';
import type { ApiClient } from './client.ts';
import { backoff, BACKOFF_BASE_MS } from './retry.ts';
import { isRefusedByStore } from './failures.ts';
import { TransportError } from './transport/exchange.ts';

/**
 * Sends the request for a file, through the service, so that each call gets a fresh link.
 * @param headers that ask for the rest of it
 * @param isAgain the link of an earlier call was refused
 */
export type AskForFile = (
  headers: Readonly<Record<string, string>>,
  isAgain: boolean,
) => Promise<Answer>;

/**
 * Downloads a file that costs nothing and can be had again: what a job made, stored audio, a preview. A link
 * that the store refuses is renewed at once, and once more after a second. A body that breaks off is
 * continued with a range, or from the beginning where there are no ranges, as often as `--max-retries` says.
 * @throws Failure (bad_answer) for a link that stays refused; the body throws it when it stays cut, or when the
 *   file changed meanwhile
 */
export async function download(
  client: Pick<ApiClient, 'retry'>,
  ask: AskForFile,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const transfer = new Transfer(client, ask, signal, await withFreshLink(client, ask, {}, signal));
  return transfer.answer();
}

/** The request for a file that costs nothing. */
export const FILE_REQUEST = { method: 'GET', isFile: true, billed: false, retry: 'safe' } as const;

const SECOND_LINK_MS = 1_000;

async function withFreshLink(
  { retry: { clock } }: Pick<ApiClient, 'retry'>,
  ask: AskForFile,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  for (let links = 1; ; links += 1) {
    try {
      return await ask(headers, links > 1);
    } catch (error) {
      if (!(error instanceof Failure) || !isRefusedByStore(error) || links === 3) throw error;
      if (links === 2) await clock.sleep(SECOND_LINK_MS, signal);
    }
  }
}

/** One file on its way, over as many connections as it takes. */
class Transfer {
  readonly #client: Pick<ApiClient, 'retry'>;
  readonly #ask: AskForFile;
  readonly #signal: AbortSignal | undefined;
  readonly #first: Answer;
  #current: Answer;
  #bytes = 0;
  /** Of the bytes that were handed on. */
  #checksum = 0;

  constructor(
    client: Pick<ApiClient, 'retry'>,
    ask: AskForFile,
    signal: AbortSignal | undefined,
    first: Answer,
  ) {
    this.#client = client;
    this.#ask = ask;
    this.#signal = signal;
    this.#first = first;
    this.#current = first;
  }

  /** The first answer, with a body that goes on over interruptions. */
  answer(): Answer {
    return {
      ...this.#first,
      body: { [Symbol.asyncIterator]: () => this.#read() },
      discard: () => this.#current.discard(),
    };
  }

  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    const { clock, maxRetries, random } = this.#client.retry;
    let body: AsyncIterable<Uint8Array> = this.#first.body;
    for (let failures = 0; ;) {
      try {
        for await (const chunk of body) {
          this.#bytes += chunk.length;
          this.#checksum = crc32(chunk, this.#checksum);
          failures = 0;
          yield chunk;
        }
        return;
      } catch (error) {
        if (!isCut(error) || (failures += 1) > maxRetries) throw error;
        await clock.sleep(backoff(failures, BACKOFF_BASE_MS) * random.fraction(), this.#signal);
        body = await this.#rest(error);
      }
    }
  }

  /** What is missing. @throws Failure; `cut` where it cannot be had */
  async #rest(cut: Failure): Promise<AsyncIterable<Uint8Array>> {
    const etag = this.#first.headers.get('etag');
    // A weak one does not promise equal bytes.
    const ifRange = etag?.startsWith('"') === true ? { 'if-range': etag } : {};
    const range = this.#bytes === 0 ? {} : { range: `bytes=${this.#bytes}-`, ...ifRange };
    const answer = await withFreshLink(this.#client, this.#ask, range, this.#signal);
    this.#current = answer;
    if (answer.headers.get('etag') !== etag) throw changed(answer);
    if (answer.status !== 206) return this.#behindStart(answer);
    if (this.#isRest(answer)) return answer.body;
    answer.discard();
    throw cut;
  }

  #isRest({ headers }: Answer): boolean {
    const [, start, total] =
      /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
    const { contentLength } = this.#first;
    const isSameSize =
      contentLength === undefined || total === '*' || Number(total) === contentLength;
    return Number(start) === this.#bytes && isSameSize;
  }

  /** The file from the beginning, without what was handed on, which has to be the same. */
  async *#behindStart(answer: Answer): AsyncGenerator<Uint8Array, void, undefined> {
    const start = this.#bytes;
    const wanted = this.#checksum;
    let checksum = 0;
    let position = 0;
    for await (const chunk of answer.body) {
      const known = Math.min(chunk.length, Math.max(0, start - position));
      position += chunk.length;
      if (known > 0) checksum = crc32(chunk.subarray(0, known), checksum);
      if (position >= start && checksum !== wanted) throw changed(answer);
      if (known < chunk.length) yield chunk.subarray(known);
    }
    if (position < start) throw changed(answer);
  }
}

/** The connection ended within the body, and not because the service said something wrong. */
function isCut(error: unknown): error is Failure {
  if (!(error instanceof Failure) || !(error.cause instanceof TransportError)) return false;
  return ['cut', 'idle'].includes(error.cause.fault);
}

function changed(answer: Answer): Failure {
  answer.discard();
  return badAnswer('the file changed while it was downloaded', answer);
}
