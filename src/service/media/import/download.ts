import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Clock } from '../../../system/clock.ts';
import { Failure } from '../../../errors/failure.ts';
import { abortable } from '../../../system/concurrency.ts';
import { ServiceError } from '../../service-error.ts';
import type { AddressPolicy } from './address-policy.ts';
import { RefusedAddress, openAddress } from './address-policy.ts';
import type { ImportSubject } from './import-failure.ts';
import { importFailure } from './import-failure.ts';

export interface DownloadDeps {
  readonly policy: AddressPolicy;
  readonly clock: Clock;
}

export interface Download {
  readonly subject: ImportSubject;
  /** A validated http or https URL without credentials. */
  readonly url: URL;
  readonly maxBytes: number;
  /** Writes the next bytes of the file. If writing fails, the download fails. */
  readonly write: (piece: Uint8Array) => Promise<void>;
  readonly signal: AbortSignal;
}

const MAX_REDIRECTS = 5;

/**
 * Downloads the file at a URL and passes its decompressed bytes to `order.write` (docs/api/lip-sync.md).
 * @throws ServiceError when the download fails (docs/api/errors.md)
 * @throws the signal's abort reason, or the error that `order.write` throws
 */
export async function download(deps: DownloadDeps, order: Download): Promise<void> {
  const { subject, signal } = order;
  const code =
    subject.kind === 'image' ? 'ERR_MEDIA_DOWNLOAD_TIMEOUT' : 'ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT';
  const time = startTimeouts(deps.clock, signal, (what) =>
    importFailure(subject, { code, what, retryable: true }),
  );
  try {
    const response = await abortable(follow(deps, order, time.signal), time.signal);
    time.restart();
    await readBody(response, order, time.restart);
  } catch (error) {
    time.signal.throwIfAborted();
    throw asFailure(error, subject);
  } finally {
    time.stop();
  }
}

async function follow(
  { policy }: DownloadDeps,
  { subject, url }: Download,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let current = url;
  let isSentFromElsewhere = false;
  for (let turn = 0; turn <= MAX_REDIRECTS; turn += 1) {
    const opened = await openAddress(current, { policy, isSentFromElsewhere, signal });
    const { response, location } = opened;
    if (location === undefined) return requireGood(response, subject);
    response.destroy();
    current = requireAddress(location, current, subject);
    isSentFromElsewhere ||= !opened.isLocal;
  }
  throw unreachable(subject, `redirects more than ${MAX_REDIRECTS} times`);
}

function requireAddress(location: string, from: URL, subject: ImportSubject): URL {
  if (!URL.canParse(location, from.href)) {
    throw unreachable(subject, 'redirects to an invalid URL');
  }
  const url = new URL(location, from);
  if (/^https?:$/.test(url.protocol)) return url;
  throw refused(subject, 'redirects to a URL that is neither http nor https', 'download');
}

function requireGood(response: IncomingMessage, subject: ImportSubject): IncomingMessage {
  const { statusCode = 0 } = response;
  if (statusCode === 200) return response;
  response.destroy();
  throw unreachable(subject, `failed with status ${statusCode}`, isTransient(statusCode));
}

function isTransient(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

async function readBody(
  response: IncomingMessage,
  { maxBytes, subject, write }: Download,
  onPiece: () => void,
): Promise<void> {
  let bytes = 0;
  const body = decoded(response, subject);
  const what = `is larger than ${maxBytes} bytes`;
  const tooLarge = importFailure(subject, { code: 'ERR_MEDIA_TOO_LARGE', what });
  try {
    if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
    for await (const piece of body) {
      onPiece();
      if (!(piece instanceof Uint8Array)) throw new TypeError('the body is not bytes');
      bytes += piece.length;
      if (bytes > maxBytes) throw tooLarge;
      await write(piece);
    }
  } finally {
    response.destroy();
    body.destroy();
  }
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

// Servers may compress a body although the request forbids compression.
function decoded(response: IncomingMessage, subject: ImportSubject): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return response;
  const decoder = DECODERS[encoding]?.();
  if (decoder !== undefined) return pipeline(response, decoder, () => undefined);
  response.destroy();
  throw unreachable(subject, 'has an unsupported Content-Encoding');
}

function asFailure(error: unknown, subject: ImportSubject): unknown {
  if (error instanceof ServiceError) return error;
  if (error instanceof RefusedAddress) return refused(subject, error.message, 'url', error);
  // An error of writing the file has a code too.
  if (!(error instanceof Error) || !('code' in error) || error instanceof Failure) return error;
  return unreachable(subject, `cannot be fetched (${String(error.code)})`, true, error);
}

function refused(
  subject: ImportSubject,
  what: string,
  stage: 'url' | 'download',
  cause?: unknown,
): ServiceError {
  return importFailure(subject, { code: 'ERR_MEDIA_URL_REFUSED', what, stage, cause });
}

function unreachable(
  subject: ImportSubject,
  what: string,
  retryable = false,
  cause?: unknown,
): ServiceError {
  return importFailure(subject, { code: 'ERR_MEDIA_UNREACHABLE', what, retryable, cause });
}

// Maximum time between two received chunks.
const IDLE_TIMEOUT_MS = 20_000;
// Maximum time for a complete download.
const TOTAL_TIMEOUT_MS = 300_000;

// `restart` restarts the idle timeout; `failureOf` makes the error with which a timeout aborts the returned signal.
function startTimeouts(clock: Clock, given: AbortSignal, failureOf: (what: string) => Error) {
  const late = new AbortController();
  const abortAfter = (ms: number, what: string): (() => void) =>
    clock.after(ms, () => late.abort(failureOf(`${what} ${ms / 1_000} s`)));
  const stopTotal = abortAfter(TOTAL_TIMEOUT_MS, 'did not arrive within');
  const wait = (): (() => void) => abortAfter(IDLE_TIMEOUT_MS, 'sent no data for');
  let stopIdle = wait();
  return {
    signal: AbortSignal.any([given, late.signal]),
    restart: (): void => {
      stopIdle();
      stopIdle = wait();
    },
    stop: (): void => {
      stopIdle();
      stopTotal();
    },
  };
}
