import { crc32 } from 'node:zlib';
import pRetry from 'p-retry';
import { Failure } from '../errors/failure.ts';
import type { ApiResponse } from './response.ts';
import { badResponse } from './response.ts';
import type { ApiClient } from './client.ts';
import { backoff, BACKOFF_BASE_MS } from './retry.ts';
import { isRefusedByStore } from './failures.ts';
import { TransportError } from './transport/transport-error.ts';

/**
 * A function that requests a file through a new download link.
 * @param headers `Range` and `If-Range` headers for a resumed download
 * @param isAgain true if file storage refused the previous link
 */
export type AskForFile = (
  headers: Readonly<Record<string, string>>,
  isAgain: boolean,
) => Promise<ApiResponse>;

/**
 * Downloads a file that can be requested again at no cost, such as the audio of a job. Replaces refused links and
 * resumes interrupted downloads.
 * @throws Failure of kind `bad_answer` if all links are refused, the body stays incomplete, or the file changes during
 * the download
 */
export async function download(
  client: ApiClient,
  ask: AskForFile,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  const first = await withFreshLink(client, ask, {}, signal);
  let current = first;
  let bytes = 0;
  let checksum = 0;

  async function* read(
    begun: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    let source = begun[Symbol.asyncIterator]();
    const readNext = async (cut: Failure | undefined) => {
      if (cut !== undefined) source = (await requestRest(cut))[Symbol.asyncIterator]();
      return source.next();
    };
    try {
      for (;;) {
        const next = await repeatAfterCuts(readNext, client.retry, { signal });
        if (next.done === true) return;
        bytes += next.value.length;
        checksum = crc32(next.value, checksum);
        yield next.value;
      }
    } finally {
      await source.return?.();
    }
  }

  async function requestRest(cut: Failure): Promise<AsyncIterable<Uint8Array>> {
    const etag = first.headers.get('etag');
    // A weak ETag does not guarantee identical bytes.
    const ifRange = etag?.startsWith('"') === true ? { 'if-range': etag } : {};
    const range = bytes === 0 ? {} : { range: `bytes=${bytes}-`, ...ifRange };
    current = await withFreshLink(client, ask, range, signal);
    if (current.headers.get('etag') !== etag) throw changed(current);
    if (current.status !== 206) return skipStart(current, bytes, checksum);
    if (startsAt(current, bytes, first.contentLength)) return current.body;
    current.discard();
    throw cut;
  }

  let cuts = 0;
  return {
    ...first,
    body: { [Symbol.asyncIterator]: () => read(first.body) },
    async rest(cut) {
      if ((cuts += 1) > client.retry.maxRetries) throw cut;
      const body = await requestRest(cut).catch((error: unknown) => {
        throw error instanceof Failure && error.status === RANGE_NOT_SATISFIABLE ? cut : error;
      });
      return { ...current, body: read(body) };
    },
    discard: () => current.discard(),
  };
}

/**
 * Runs `attempt` again after each dropped connection, as often as the client retries, with the delays of its retries.
 * @param attempt is given the failure that ended the attempt before
 * @param options.position returns the number of bytes so far; only bytes beyond those of all earlier attempts allow as
 * many retries again, because some servers always start from the beginning
 * @throws Failure of the last attempt, or one that is not a dropped connection
 */
export function repeatAfterCuts<Result>(
  attempt: (cut: Failure | undefined) => Promise<Result>,
  { clock, maxRetries, random }: ApiClient['retry'],
  { signal, position = () => 0 }: { signal?: AbortSignal | undefined; position?: () => number },
): Promise<Result> {
  let cut: Failure | undefined;
  let furthest = position();
  let failures = 0;
  return pRetry(() => attempt(cut), {
    // The count below limits the retries, and the clock of the client sets the delays.
    retries: Infinity,
    minTimeout: 0,
    async onFailedAttempt({ error }) {
      // p-retry replaces an abort reason that is not an error.
      signal?.throwIfAborted();
      // An attempt that throws the failure before again has found that the rest cannot be sent.
      if (!isCut(error) || error === cut) throw error;
      cut = error;
      if (position() > furthest) failures = 0;
      furthest = Math.max(furthest, position());
      if ((failures += 1) > maxRetries) throw error;
      await clock.sleep(backoff(failures, BACKOFF_BASE_MS) * random.fraction(), signal);
    },
  });
}

/** Request options for a file download, which is never billed and may be repeated. */
export const FILE_REQUEST = { method: 'GET', isFile: true, billed: false, retry: 'safe' } as const;

const SECOND_LINK_MS = 1_000;
// The file has no more bytes.
const RANGE_NOT_SATISFIABLE = 416;

async function withFreshLink(
  { retry: { clock } }: ApiClient,
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

/**
 * Returns true if the `Content-Range` header of a response begins at the byte `start`. If both the header and `size`
 * state the total size, the two must be equal.
 */
export function startsAt(
  { headers }: ApiResponse,
  start: number,
  size: number | undefined,
): boolean {
  const [, from, total] =
    /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
  return Number(from) === start && (size === undefined || total === '*' || Number(total) === size);
}

async function* skipStart(
  response: ApiResponse,
  start: number,
  expected: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let checksum = 0;
  let position = 0;
  for await (const chunk of response.body) {
    const known = Math.min(chunk.length, Math.max(0, start - position));
    position += chunk.length;
    if (known > 0) checksum = crc32(chunk.subarray(0, known), checksum);
    if (position >= start && checksum !== expected) throw changed(response);
    if (known < chunk.length) yield chunk.subarray(known);
  }
  if (position < start) throw changed(response);
}

/** Returns true if an error means that the connection dropped or stalled. The download can then be resumed. */
export function isCut(error: unknown): error is Failure {
  if (!(error instanceof Failure) || !(error.cause instanceof TransportError)) return false;
  return ['cut', 'idle'].includes(error.cause.fault);
}

function changed(response: ApiResponse): Failure {
  response.discard();
  return badResponse('the file changed during the download', response);
}
