import { crc32 } from 'node:zlib';
import { Failure } from '../errors/failure.ts';
import type { ApiResponse } from './response.ts';
import { badResponse } from './response.ts';
import type { ApiClient } from './client.ts';
import { backoff, BACKOFF_BASE_MS } from './retry.ts';
import { isRefusedByStore } from './failures.ts';
import { TransportError } from './transport/exchange.ts';

/**
 * Requests a file through the service, which returns a fresh link each time.
 * @param headers `Range` and `If-Range` of a resumed download
 * @param isAgain the previous link was refused
 */
export type AskForFile = (
  headers: Readonly<Record<string, string>>,
  isAgain: boolean,
) => Promise<ApiResponse>;

/**
 * Downloads a file that is free and can be requested again, such as the audio of a job. A refused link is
 * renewed at once and again after a second. A body that is cut off is resumed with a range request, or from the
 * start, up to `--max-retries` times.
 * @throws Failure (bad_answer) if the links stay refused, the body stays cut off, or the file changes
 */
export async function download(
  client: Pick<ApiClient, 'retry'>,
  ask: AskForFile,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  const transfer = new Transfer(client, ask, signal, await withFreshLink(client, ask, {}, signal));
  return transfer.response();
}

/** Options of the request for a free file. */
export const FILE_REQUEST = { method: 'GET', isFile: true, billed: false, retry: 'safe' } as const;

const SECOND_LINK_MS = 1_000;

async function withFreshLink(
  { retry: { clock } }: Pick<ApiClient, 'retry'>,
  ask: AskForFile,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  for (let links = 1; ; links += 1) {
    try {
      return await ask(headers, links > 1);
    } catch (error) {
      if (!(error instanceof Failure) || !isRefusedByStore(error) || links === 3) throw error;
      if (links === 2) await clock.sleep(SECOND_LINK_MS, signal);
    }
  }
}

/** One download, over as many connections as it needs. */
class Transfer {
  readonly #client: Pick<ApiClient, 'retry'>;
  readonly #ask: AskForFile;
  readonly #signal: AbortSignal | undefined;
  readonly #first: ApiResponse;
  #current: ApiResponse;
  #bytes = 0;
  /** CRC-32 of the bytes passed on so far. */
  #checksum = 0;

  constructor(
    client: Pick<ApiClient, 'retry'>,
    ask: AskForFile,
    signal: AbortSignal | undefined,
    first: ApiResponse,
  ) {
    this.#client = client;
    this.#ask = ask;
    this.#signal = signal;
    this.#first = first;
    this.#current = first;
  }

  /** Returns the first response, with a body that resumes after interruptions. */
  response(): ApiResponse {
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

  /** Requests the rest of the file. @throws Failure; `cut` if the rest is not available */
  async #rest(cut: Failure): Promise<AsyncIterable<Uint8Array>> {
    const etag = this.#first.headers.get('etag');
    // A weak ETag does not promise equal bytes.
    const ifRange = etag?.startsWith('"') === true ? { 'if-range': etag } : {};
    const range = this.#bytes === 0 ? {} : { range: `bytes=${this.#bytes}-`, ...ifRange };
    const response = await withFreshLink(this.#client, this.#ask, range, this.#signal);
    this.#current = response;
    if (response.headers.get('etag') !== etag) throw changed(response);
    if (response.status !== 206) return this.#behindStart(response);
    if (this.#isRest(response)) return response.body;
    response.discard();
    throw cut;
  }

  #isRest({ headers }: ApiResponse): boolean {
    const [, start, total] =
      /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
    const { contentLength } = this.#first;
    const isSameSize =
      contentLength === undefined || total === '*' || Number(total) === contentLength;
    return Number(start) === this.#bytes && isSameSize;
  }

  /** Skips the bytes that were already passed on, after checking that they are the same. */
  async *#behindStart(response: ApiResponse): AsyncGenerator<Uint8Array, void, undefined> {
    const start = this.#bytes;
    const wanted = this.#checksum;
    let checksum = 0;
    let position = 0;
    for await (const chunk of response.body) {
      const known = Math.min(chunk.length, Math.max(0, start - position));
      position += chunk.length;
      if (known > 0) checksum = crc32(chunk.subarray(0, known), checksum);
      if (position >= start && checksum !== wanted) throw changed(response);
      if (known < chunk.length) yield chunk.subarray(known);
    }
    if (position < start) throw changed(response);
  }
}

/** Whether the connection ended within the body. */
function isCut(error: unknown): error is Failure {
  if (!(error instanceof Failure) || !(error.cause instanceof TransportError)) return false;
  return ['cut', 'idle'].includes(error.cause.fault);
}

function changed(response: ApiResponse): Failure {
  response.discard();
  return badResponse('the file changed during the download', response);
}
