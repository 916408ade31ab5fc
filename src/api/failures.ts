import type { ExitName } from '../contract/exit-codes.ts';
import type { Billed, FailureCode, FailureOptions } from '../errors/failure.ts';
import { Failure } from '../errors/failure.ts';
import type { ApiResponse, ErrorReply } from './response.ts';
import { isRecord } from './response.ts';
import type { Redactor } from './redact.ts';
import { LONGEST_RETRY_AFTER_MS } from './retry.ts';
import type { Fault, TransportError } from './transport/transport-error.ts';
import {
  codeOf,
  isCertificateCode,
  isParserError,
  ProxyRefusal,
} from './transport/transport-error.ts';

interface StatusContext {
  readonly status: number;
  readonly error: ErrorReply;
  readonly requestId: string;
  readonly retryAfterMs: number | undefined;
  readonly billed: boolean;
  readonly now: number;
}

interface Meaning {
  readonly exit: ExitName;
  readonly problem: string;
  readonly hint: string;
}

/** Returns the Failure for an error response of the service. */
export function statusFailure(facts: StatusContext): Failure {
  const { status, error, retryAfterMs } = facts;
  const isOfEngine = error.details?.['engine'] !== undefined;
  const usual = isOfEngine ? ENGINE_TROUBLE : meaningOf(status, error.code);
  const meaning = importMeaning(facts, usual.exit) ?? finalMeaning(facts, usual) ?? usual;
  const isOfText = error.code === 'ERR_INVALID_REQUEST' && isAboutText(error.details);
  const serviceMessage = error.message === undefined ? '' : `: ${error.message}`;
  return new Failure(`${meaning.problem} (${status})${serviceMessage}`, {
    // A response without the error body of the service comes from a proxy or another server.
    code: error.code ?? (status === 401 ? 'no_key' : 'bad_answer'),
    exit: meaning.exit,
    hint: (isOfText ? TEXT_HINT : meaning.hint) + waitHint(facts),
    billed: billedBy(facts),
    status,
    requestId: error.requestId ?? facts.requestId,
    retryAfter: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000),
    details: error.details,
  });
}

/** Returns true if the details of an error name only the text of the request as invalid. */
export function isAboutText(details: Failure['details']): boolean {
  const errors = details?.['errors'];
  const fields = Array.isArray(errors) ? errors.map((one) => Object(one).field) : [];
  return fields.length > 0 && fields.every((field) => TEXT_FIELDS.has(field));
}

// Names of the text field in the requests of all API versions.
const TEXT_FIELDS: ReadonlySet<unknown> = new Set(['text', 'input']);

/** Hint for a text that the service refuses, for example because the voice cannot speak it. */
export const TEXT_HINT =
  'Change the text, or choose a voice that speaks its language: `foley voices list --language CODE` lists them.';

/**
 * Returns the Failure for an error response to a download link, such as an expired link. These responses come
 * from file storage, so they say nothing about the API key or credits.
 */
export function storeFailure(
  host: string,
  { requestId, retryAfterMs, status }: ApiResponse,
): Failure {
  const isRefused = isRefusal(status);
  const exit = status === 429 ? 'rateLimited' : isRefused ? 'badAnswer' : 'service';
  const failedOrRefused = isRefused ? 'refused the download' : 'failed';
  return new Failure(`the file storage at ${host} ${failedOrRefused} (${status})`, {
    code: 'bad_answer',
    exit,
    hint: isRefused
      ? 'Download links expire, and a new link was refused too. Try again later.'
      : 'Try again later.',
    billed: 'no',
    status,
    requestId,
    retryAfter: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000),
    details: { store: host },
  });
}

/** Returns whether file storage refused a download link; a fresh link may succeed. */
export function isRefusedByStore({ details, status }: Failure): boolean {
  return details?.['store'] !== undefined && status !== undefined && isRefusal(status);
}

/** Returns whether the service reports that a resource is missing (404 or 410). */
export function isNotFound(error: unknown): error is Failure {
  if (!(error instanceof Failure) || error.details?.['store'] !== undefined) return false;
  return error.status === 404 || error.status === 410;
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status);
}

/**
 * Returns the Failure for an incomplete speech response of foley's own service. The service refunded the request.
 * @param error the error that the service reported
 */
export function streamFailure(error: ErrorReply, requestId: string): Failure {
  return new Failure(`the response ended early: ${error.message}`, {
    code: error.code ?? 'ERR_GENERATION_FAILED',
    exit: ENGINE_TROUBLE.exit,
    hint: error.code === 'ERR_STORAGE_FULL' ? STORAGE_FULL_HINT : ENGINE_TROUBLE.hint,
    billed: 'no',
    requestId,
  });
}

// The service could not import a file of a media request: it created no job and billed nothing (docs/api/errors.md).
function importMeaning(facts: StatusContext, exit: ExitName): Meaning | undefined {
  const { media_kind: kind, retryable, stage } = facts.error.details ?? {};
  if (!isName(kind) || !isName(stage)) return undefined;
  const next =
    retryable === true
      ? 'Try again later.'
      : `Give another ${kind} file: the same request fails again.`;
  return {
    exit,
    problem: `the service could not import the ${kind} file, at the stage "${stage}"`,
    hint: billedBy(facts) === 'no' ? `Nothing was billed. ${next}` : next,
  };
}

// The service says that the same request fails again, so the usual hint to try again later is wrong.
function finalMeaning({ error }: StatusContext, usual: Meaning): Meaning | undefined {
  const isTemporary = usual === SERVICE_TROUBLE || TEMPORARY.some((one) => one === usual);
  if (!isTemporary || error.details?.['retryable'] !== false) return undefined;
  return {
    ...usual,
    hint: 'The service reports that the same request fails again. Change the request, or report the request id to the service.',
  };
}

// The kinds and stages of the API are single words, such as `video` and `download`.
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z][\w-]{0,39}$/i.test(value);
}

function meaningOf(status: number, code: string | undefined): Meaning {
  const known = BY_CODE.get(code ?? '') ?? BY_STATUS.get(String(status));
  if (known !== undefined) return known;
  if (status >= 500) return SERVICE_TROUBLE;
  if (status >= 400) return REJECTED;
  return {
    exit: 'badAnswer',
    problem: 'the service returned an unexpected status',
    hint: 'Check that --base-url points to the service.',
  };
}

const REJECTED: Meaning = {
  exit: 'rejected',
  problem: 'the service rejected the request',
  hint: 'Change the request: if it is sent unchanged, it fails again.',
};

const SERVICE_TROUBLE: Meaning = {
  exit: 'service',
  problem: 'the service failed',
  hint: 'Try again later. If it keeps failing, report the request id to the service.',
};

// The message names the engine and how to test it.
const ENGINE_TROUBLE: Meaning = {
  exit: 'service',
  problem: 'the engine of the voice failed',
  hint: 'Repair the engine and run the command again, or choose another voice: `foley voices list`.',
};

/** The hint for a service whose disk is full. */
export const STORAGE_FULL_HINT =
  'Free up disk space and run the command again. Or choose another data folder: `foley serve --data-dir DIR`; for the embedded service, set XDG_STATE_HOME.';

const BY_STATUS = new Map(
  Object.entries<Meaning>({
    401: {
      exit: 'auth',
      problem: 'the service rejected the API key',
      hint: 'Check FOLEY_API_KEY or --api-key-file, or run `foley auth login`.',
    },
    402: {
      exit: 'credits',
      problem: 'not enough credits or quota',
      hint: '`foley profile` shows the remaining credits and API quota.',
    },
    403: {
      exit: 'auth',
      problem: 'this API key lacks the required permission',
      hint: 'Use an API key or an account that has the required permission.',
    },
    404: {
      exit: 'rejected',
      problem: 'not found in this account',
      hint: 'Check the id and the account.',
    },
    413: {
      exit: 'rejected',
      problem: 'the request is too large',
      hint: 'Send a shorter text, or smaller or fewer files.',
    },
    429: {
      exit: 'rateLimited',
      problem: 'too many requests',
      hint: 'Wait, or send fewer requests at once.',
    },
    503: {
      exit: 'service',
      problem: 'the service or the model is unavailable',
      hint: 'Try again later. `foley models` lists the available models.',
    },
    507: {
      exit: 'service',
      problem: 'the disk of the service is full',
      hint: STORAGE_FULL_HINT,
    },
  }),
);

const TEMPORARY = ['429', '503'].map((status) => BY_STATUS.get(status));

const BY_CODE = new Map(
  Object.entries<Meaning>({
    ERR_REQUEST_ID_CONFLICT: {
      exit: 'rejected',
      problem: 'this idempotency key or request id belongs to a different request',
      hint: 'Use another --idempotency-key or --request-id, or repeat the original request unchanged.',
    },
    ERR_REQUEST_IN_PROGRESS: {
      exit: 'unknownOutcome',
      problem: 'the same request is still in progress',
      hint: 'Wait until the earlier request finishes.',
    },
    ERR_REQUEST_ALREADY_COMPLETED: {
      exit: 'lost',
      problem:
        'this request was already completed and billed; the service sends its audio only once',
      hint: 'Look for the output of the earlier command. A request with a new idempotency key is billed again.',
    },
    ERR_REQUEST_PREVIOUSLY_REFUNDED: {
      exit: 'rejected',
      problem: 'this request failed earlier and was refunded; its idempotency key cannot be reused',
      hint: 'Use another --idempotency-key or --request-id.',
    },
  }),
);

const BILLED_BY_CODE = new Map(
  Object.entries<Billed>({
    ERR_REQUEST_ALREADY_COMPLETED: 'yes',
    ERR_REQUEST_IN_PROGRESS: 'unknown',
    ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT: 'no',
    ERR_MODEL_UNAVAILABLE: 'no',
    ERR_NOT_IMPLEMENTED: 'no',
    ERR_STORAGE_FULL: 'no',
  }),
);

function billedBy({ billed, error, status }: StatusContext): Billed {
  if (!billed) return 'no';
  // The speech of a dubbing is billed even if its lip sync could not start (docs/api/errors.md).
  if (error.details?.['tts_audio_url'] !== undefined) return 'yes';
  // Only foley's service names the engine, after it refunded the request.
  if (error.details?.['engine'] !== undefined) return 'no';
  if (isName(error.details?.['media_kind'])) return 'no';
  const knownOutcome = BILLED_BY_CODE.get(error.code ?? '');
  return knownOutcome ?? (status >= 400 && status < 500 ? 'no' : 'unknown');
}

function waitHint({ now, retryAfterMs }: StatusContext): string {
  if (retryAfterMs === undefined || retryAfterMs <= LONGEST_RETRY_AFTER_MS) return '';
  return ` The service asks to wait until ${new Date(now + retryAfterMs).toISOString()}.`;
}

/** The fields of a failed request that `transportFailure` needs. */
export interface TransportContext {
  readonly billed: boolean;
  readonly requestId: string;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Current time in milliseconds since the Unix epoch. */
  readonly now: number;
  /** Whether the service is the embedded service, which runs in this process. */
  readonly isEmbedded?: boolean;
  /** Whether the service is foley's own: `foley serve` or the embedded service. */
  readonly isServe?: boolean;
}

interface Explanation {
  readonly code: FailureCode;
  readonly exit: ExitName;
  readonly message: string;
  readonly hint: string;
}

/** Returns the Failure for a transport error. */
export function transportFailure(error: TransportError, facts: TransportContext): Failure {
  const { code, exit, message, hint } = EXPLAIN[error.fault](error, facts);
  const isThrough = error.proxy !== undefined && error.unsent && error.fault !== 'proxy';
  const route = isThrough ? ` (through the proxy ${error.proxy} from HTTPS_PROXY)` : '';
  return new Failure(message + route, {
    code,
    exit,
    hint: isThrough ? `Check HTTPS_PROXY. ${hint}` : hint,
    billed: facts.billed && !error.unsent ? 'unknown' : 'no',
    requestId: facts.requestId,
    cause: error,
  });
}

/**
 * Converts a failure to an `unknown_outcome` failure (exit code 26). Used if the failed request may have been billed.
 * @param lookAt hint for the user: how to find out whether the request was billed
 */
export function unknownOutcome(failure: Failure, lookAt: string | undefined): Failure {
  return reviseFailure(failure, {
    message: `${failure.message}; the service may have processed and billed the request`,
    code: 'unknown_outcome',
    exit: 'unknownOutcome',
    hint: lookAt ?? 'Run `foley recover` to find out.',
    billed: 'unknown',
  });
}

const EXPLAIN: Readonly<
  Record<Fault, (error: TransportError, facts: TransportContext) => Explanation>
> = {
  closed: () => network('the client is closed', 'Create a new client.'),
  name_unknown: ({ host }) =>
    network(`cannot resolve ${host}: no such host`, 'Check the address (--base-url).'),
  name_unavailable: ({ host }) =>
    network(`cannot resolve ${host}: the DNS server did not answer`, 'Check the network.'),
  refused: ({ host }) =>
    network(
      `${host} refused the connection`,
      'Check --base-url, and that a service is running there.',
    ),
  unreachable: ({ host, systemCode }) =>
    network(`cannot connect to ${host}${inBrackets(systemCode)}`, 'Check the network.'),
  proxy: (error) => {
    const { problem, isOfPassword } = proxyProblem(error);
    return network(
      `the proxy ${error.proxy ?? ''} did not connect to ${error.host}: ${problem}`,
      isOfPassword
        ? 'Check the user name and password in HTTPS_PROXY.'
        : 'Check HTTPS_PROXY, or name the host in NO_PROXY.',
    );
  },
  connect_timeout: ({ host }, { connectTimeoutMs }) =>
    timeout(`cannot connect to ${host} within ${seconds(connectTimeoutMs)}`, 'Check the network.'),
  certificate: ({ host, systemCode }, { now }) => {
    if (systemCode === 'EPROTO' || systemCode === 'ERR_SSL_WRONG_VERSION_NUMBER') {
      const hint = 'Check the address and its port (--base-url).';
      return network(`${host} does not speak TLS${inBrackets(systemCode)}; nothing was sent`, hint);
    }
    const time = new Date(now).toISOString();
    return network(
      `the TLS certificate of ${host} is not trusted${inBrackets(systemCode)}; nothing was sent`,
      `Check the address and the clock of this computer (${time}). ` +
        'For the certificates of a company, set NODE_EXTRA_CA_CERTS.',
    );
  },
  upload_reset: ({ host }) =>
    network(`${host} closed the connection before the whole request was sent`, 'Try again.'),
  upload_timeout: ({ host }, { responseTimeoutMs }) =>
    timeout(
      `${host} accepted no data of the request for ${seconds(responseTimeoutMs)}`,
      'Try again, or raise --response-timeout.',
    ),
  reset: ({ host }) => network(`${host} closed the connection without a response`, 'Try again.'),
  timeout: ({ host }, { responseTimeoutMs }) =>
    timeout(
      `${host} did not respond within ${seconds(responseTimeoutMs)}`,
      'Try again, or raise --response-timeout.',
    ),
  protocol: ({ cause, host }, facts) =>
    codeOf(cause) === 'UND_ERR_HEADERS_OVERFLOW'
      ? unusable(`the response headers of ${host} are too large`, facts)
      : unusable(`the response of ${host} is not valid HTTP`, facts),
  cut: (error, facts) => endedEarly('the response was cut off', error, facts),
  idle: (error, facts) =>
    endedEarly(`the response stalled: no data for ${seconds(facts.idleTimeoutMs)}`, error, facts),
  surplus: (_error, facts) => unusable('the response is longer than announced', facts),
};

function proxyProblem({ cause, systemCode = '' }: TransportError): {
  readonly problem: string;
  readonly isOfPassword: boolean;
} {
  const status = cause instanceof ProxyRefusal ? cause.status : undefined;
  if (status === 407) {
    return { problem: 'it requires a user name and password (407)', isOfPassword: true };
  }
  const reason = inBrackets(systemCode === '' ? undefined : systemCode);
  let problem = `it closed the connection${reason}`;
  if (status !== undefined) problem = `it returned ${status}`;
  else if (/^(ENOTFOUND|EAI_AGAIN)$/.test(systemCode)) problem = 'its host name does not resolve';
  else if (systemCode === 'ECONNREFUSED') problem = 'it refused the connection';
  else if (/TIMEOUT|ETIMEDOUT/.test(codeOf(cause) ?? '')) problem = 'it did not respond';
  else if (isParserError(cause)) problem = 'its response is not valid HTTP';
  else if (isCertificateCode(systemCode)) problem = `its TLS certificate is not trusted${reason}`;
  return { problem, isOfPassword: false };
}

function network(message: string, hint: string): Explanation {
  return { code: 'network', exit: 'network', message, hint };
}

function timeout(message: string, hint: string): Explanation {
  return { code: 'timeout', exit: 'network', message, hint };
}

function endedEarly(
  message: string,
  { host, proxy }: TransportError,
  facts: TransportContext,
): Explanation {
  const from = proxy === undefined ? host : `${host} or the proxy ${proxy} from HTTPS_PROXY`;
  const where = facts.isServe
    ? '`foley serve` printed the reason with this request id. It refunds speech that it cannot finish.'
    : 'try again, or report the request id to the service.';
  return unusable(message, facts, `${from} ended the response early: ${where}`);
}

function unusable(
  message: string,
  { isEmbedded }: TransportContext,
  hint = 'Check for a proxy or filter between foley and the service.',
): Explanation {
  const stopped = 'The embedded service stopped. The computer may be overloaded: try again.';
  return { code: 'bad_answer', exit: 'badAnswer', message, hint: isEmbedded ? stopped : hint };
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

function inBrackets(code: string | undefined): string {
  return code === undefined ? '' : ` (${code})`;
}

/** Returns a copy of a failure with some fields replaced. */
export function reviseFailure(
  failure: Failure,
  changes: Partial<FailureOptions> & { readonly message?: string },
): Failure {
  const { code, exit, hint, billed, status, requestId, retryAfter, details, cause } = failure;
  const fields = { code, exit, hint, billed, status, requestId, retryAfter, details, cause };
  return new Failure(changes.message ?? failure.message, { ...fields, ...changes });
}

/**
 * Copies a failure and marks the copy as possibly billed. Used, for example, when a 200 response contains no audio.
 */
export function maybeBilled(failure: Failure): Failure {
  return reviseFailure(failure, { billed: 'unknown' });
}

/** Masks the secrets in the messages and details of a failure. */
export function redactFailure(failure: Failure, redactor: Redactor): Failure {
  const { details, hint } = failure;
  const clean = redactor.data(details);
  return reviseFailure(failure, {
    message: redactor.text(failure.message),
    hint: hint === undefined ? undefined : redactor.text(hint),
    code: redactor.text(failure.code),
    requestId: failure.requestId === undefined ? undefined : redactor.text(failure.requestId),
    details: isRecord(clean) ? clean : undefined,
  });
}
