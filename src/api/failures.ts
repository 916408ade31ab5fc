import type { ExitName } from '../contract/exit-codes.ts';
import type { Billed, FailureCode, FailureOptions } from '../errors/failure.ts';
import { Failure } from '../errors/failure.ts';
import type { ServiceError } from './response.ts';
import { isRecord } from './response.ts';
import type { Redactor } from './redact.ts';
import { LONGEST_RETRY_AFTER_MS } from './retry.ts';
import type { Fault, TransportError } from './transport/exchange.ts';
import { isCertificateCode, isParserError, ProxyRefusal } from './transport/exchange.ts';

/** An answer that is an error, and what was asked. */
interface StatusFacts {
  readonly status: number;
  readonly error: ServiceError;
  /** The service's own id, else the one that was sent. */
  readonly requestId: string;
  readonly retryAfterMs: number | undefined;
  readonly billed: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Meaning {
  readonly exit: ExitName;
  readonly what: string;
  readonly hint: string;
}

/** What a status of the spec's section 7 means to the person who asked. */
export function statusFailure(facts: StatusFacts): Failure {
  const { status, error, retryAfterMs } = facts;
  const meaning = meaningOf(status, error.code);
  const said = error.message === undefined ? '' : `: ${error.message}`;
  return new Failure(`${meaning.what} (${status})${said}`, {
    // An error that is not in the service's own words comes from something in between.
    code: error.code ?? (status === 401 ? 'no_key' : 'bad_answer'),
    exit: meaning.exit,
    hint: meaning.hint + waitHint(facts),
    billed: billedBy(facts),
    status,
    requestId: error.requestId ?? facts.requestId,
    retryAfter: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000),
    details: error.details,
  });
}

/**
 * Describes a status of the place where a file is stored: nothing about key, credits or request follows from it,
 * also where it is on the origin of the service, since a link expires by itself.
 */
export function storeFailure(
  host: string,
  { requestId, retryAfterMs, status }: Pick<StatusFacts, 'requestId' | 'retryAfterMs' | 'status'>,
): Failure {
  const isRefused = isRefusal(status);
  const exit = status === 429 ? 'rateLimited' : isRefused ? 'badAnswer' : 'service';
  const what = isRefused ? 'refused it' : 'failed';
  return new Failure(`the store of the file at ${host} ${what} (${status})`, {
    code: 'bad_answer',
    exit,
    hint: isRefused
      ? 'A link to a file is good for a while only, and a new one was refused too: try again later.'
      : 'Try again later.',
    billed: 'no',
    status,
    requestId,
    retryAfter: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000),
    details: { store: host },
  });
}

/** Whether a store refused a link, so that a fresh one may help. */
export function isRefusedByStore({ details, status }: Failure): boolean {
  return details?.['store'] !== undefined && status !== undefined && isRefusal(status);
}

/** Whether the service itself says that something is not there. */
export function isNotFound(error: unknown): error is Failure {
  if (!(error instanceof Failure) || error.details?.['store'] !== undefined) return false;
  return error.status === 404 || error.status === 410;
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status);
}

function meaningOf(status: number, code: string | undefined): Meaning {
  const known = BY_CODE.get(code ?? '') ?? BY_STATUS.get(String(status));
  if (known !== undefined) return known;
  if (status >= 500) return SERVICE_TROUBLE;
  if (status >= 400) return REJECTED;
  return {
    exit: 'badAnswer',
    what: 'the answer has a status that no answer of the service has',
    hint: 'Check --base-url: is it really the service?',
  };
}

const REJECTED: Meaning = {
  exit: 'rejected',
  what: 'the service rejected the request',
  hint: 'Change the request; the same one will be refused again.',
};

const SERVICE_TROUBLE: Meaning = {
  exit: 'service',
  what: 'the service failed',
  hint: 'Try again later; keep the request id for a question to the service.',
};

const BY_STATUS = new Map(
  Object.entries<Meaning>({
    401: {
      exit: 'auth',
      what: 'the service does not accept the API key',
      hint: 'Check FOLEY_API_KEY or --api-key-file, or run `foley auth login`.',
    },
    402: {
      exit: 'credits',
      what: 'not enough credits or quota',
      hint: '`foley profile` shows what is left.',
    },
    403: {
      exit: 'auth',
      what: 'this API key may not do that',
      hint: 'Use a key or account with the permission.',
    },
    404: {
      exit: 'rejected',
      what: 'not found, or not yours',
      hint: 'Check the id, and that it belongs to the same account.',
    },
    413: {
      exit: 'rejected',
      what: 'the request is too large',
      hint: 'Send less at once.',
    },
    429: {
      exit: 'rateLimited',
      what: 'too many requests',
      hint: 'Wait a little, and send fewer requests at a time.',
    },
    503: {
      exit: 'service',
      what: 'the service or the model is not available now',
      hint: 'Try again later; `foley models` shows what is available.',
    },
    507: {
      exit: 'service',
      what: 'the disk of the service is full',
      hint: 'Make room where the service keeps its data, or give it another folder (`foley serve --data-dir`; XDG_STATE_HOME for the embedded service); then run it again.',
    },
  }),
);

const BY_CODE = new Map(
  Object.entries<Meaning>({
    ERR_REQUEST_ID_CONFLICT: {
      exit: 'rejected',
      what: 'the same key or request id was used for a different request',
      hint: 'Use another --idempotency-key or --request-id, or send exactly what was sent then.',
    },
    ERR_REQUEST_IN_PROGRESS: {
      exit: 'unknownOutcome',
      what: 'the same request is still in progress',
      hint: 'Wait until it is done.',
    },
    ERR_REQUEST_ALREADY_COMPLETED: {
      exit: 'lost',
      what: 'this request was completed and billed before, and its audio is not sent a second time',
      hint: 'Look for the earlier output; a new key buys it again.',
    },
    ERR_REQUEST_PREVIOUSLY_REFUNDED: {
      exit: 'rejected',
      what: 'this request failed before and was refunded; its key cannot be used again',
      hint: 'Use another --idempotency-key or --request-id.',
    },
  }),
);

const BILLED_BY_CODE = new Map(
  Object.entries<Billed>({
    ERR_REQUEST_ALREADY_COMPLETED: 'yes',
    ERR_REQUEST_IN_PROGRESS: 'unknown',
    ERR_MODEL_UNAVAILABLE: 'no',
    ERR_NOT_IMPLEMENTED: 'no',
    ERR_STORAGE_FULL: 'no',
  }),
);

/** A refusal costs nothing; after a failure within the service only its settlement tells. */
function billedBy({ billed, error, status }: StatusFacts): Billed {
  if (!billed) return 'no';
  // A dub whose lip sync could not start has paid for its speech (docs/api/errors.md).
  if (error.details?.['tts_audio_url'] !== undefined) return 'yes';
  const known = BILLED_BY_CODE.get(error.code ?? '');
  return known ?? (status >= 400 && status < 500 ? 'no' : 'unknown');
}

function waitHint({ now, retryAfterMs }: StatusFacts): string {
  if (retryAfterMs === undefined || retryAfterMs <= LONGEST_RETRY_AFTER_MS) return '';
  return ` It asks to be left alone until ${new Date(now + retryAfterMs).toISOString()}.`;
}

/** What was asked, and how long was waited for what. */
export interface TransportFacts {
  readonly billed: boolean;
  readonly requestId: string;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The service runs in this process: nothing lies between it and the client. */
  readonly isEmbedded?: boolean;
  /** The response is one of `foley serve`, or of the embedded service. */
  readonly isServe?: boolean;
}

interface Explanation {
  readonly code: FailureCode;
  readonly exit: ExitName;
  readonly message: string;
  readonly hint: string;
}

/** What a fault of the connection means to the person who asked. */
export function transportFailure(error: TransportError, facts: TransportFacts): Failure {
  const { code, exit, message, hint } = EXPLAIN[error.fault](error, facts);
  const isThrough = error.proxy !== undefined && error.unsent && error.fault !== 'proxy';
  const route = isThrough ? ` (through the proxy ${error.proxy}, which HTTPS_PROXY names)` : '';
  return new Failure(message + route, {
    code,
    exit,
    hint: isThrough ? `Check HTTPS_PROXY. ${hint}` : hint,
    billed: facts.billed && !error.unsent ? 'unknown' : 'no',
    requestId: facts.requestId,
    cause: error,
  });
}

/** A billed request that was sent and never answered: only the service knows (exit 26). */
export function unknownOutcome(failure: Failure, lookAt: string | undefined): Failure {
  return new Failure(`${failure.message}; the request may have been done and billed`, {
    code: 'unknown_outcome',
    exit: 'unknownOutcome',
    hint: lookAt ?? '`foley recover` tells what is known of it.',
    billed: 'unknown',
    status: failure.status,
    requestId: failure.requestId,
    retryAfter: failure.retryAfter,
    details: failure.details,
    cause: failure.cause,
  });
}

type Explain = (error: TransportError, facts: TransportFacts) => Explanation;

const EXPLAIN: Readonly<Record<Fault, Explain>> = {
  name_unknown: ({ host }) =>
    network(`the name of ${host} cannot be found`, 'Check the address (--base-url).'),
  name_unavailable: ({ host }) =>
    network(`the name of ${host} cannot be looked up now`, 'Check the network.'),
  refused: ({ host }) =>
    network(`${host} refuses connections`, 'Does a service run there? Check --base-url.'),
  unreachable: ({ host, systemCode }) =>
    network(`no connection to ${host}${inBrackets(systemCode)}`, 'Check the network.'),
  proxy: (error) => {
    const { problem, isOfPassword } = proxyProblem(error);
    return network(
      `the proxy ${error.proxy ?? ''} gives no connection to ${error.host}: ${problem}`,
      isOfPassword
        ? 'Check the user name and password in HTTPS_PROXY.'
        : 'Check HTTPS_PROXY, or name the host in NO_PROXY.',
    );
  },
  connect_timeout: ({ host }, { connectTimeoutMs }) =>
    timeout(`no connection to ${host} within ${seconds(connectTimeoutMs)}`, 'Check the network.'),
  certificate: ({ host, systemCode }, { now }) => {
    if (systemCode === 'EPROTO' || systemCode === 'ERR_SSL_WRONG_VERSION_NUMBER') {
      const hint = 'Check the address and its port (--base-url).';
      return network(`${host} does not speak TLS${inBrackets(systemCode)}; nothing was sent`, hint);
    }
    return network(
      `the encryption of ${host} cannot be trusted${inBrackets(systemCode)}; nothing was sent`,
      'Check the address and this computer’s clock, which says ' +
        `${new Date(now).toISOString()}; for a company’s own certificates set NODE_EXTRA_CA_CERTS.`,
    );
  },
  upload_reset: ({ host }) =>
    network(`${host} closed the connection before all of the request was sent`, 'Try again.'),
  upload_timeout: ({ host }, { responseTimeoutMs }) =>
    timeout(
      `${host} took nothing of the request for ${seconds(responseTimeoutMs)}`,
      'Try again, or wait longer with --response-timeout.',
    ),
  reset: ({ host }) => network(`${host} closed the connection without an answer`, 'Try again.'),
  timeout: ({ host }, { responseTimeoutMs }) =>
    timeout(
      `${host} did not answer within ${seconds(responseTimeoutMs)}`,
      'Try again, or wait longer with --response-timeout.',
    ),
  protocol: ({ host, systemCode }, facts) =>
    systemCode === 'HPE_HEADER_OVERFLOW'
      ? unusable(`the answer of ${host} begins with more headers than can be right`, facts)
      : unusable(`what ${host} answers is not valid HTTP`, facts),
  cut: (error, facts) => endedEarly('the answer was cut off', error, facts),
  idle: (error, facts) =>
    endedEarly(
      `the answer stopped: nothing came for ${seconds(facts.idleTimeoutMs)}`,
      error,
      facts,
    ),
  surplus: (_error, facts) => unusable('the answer is longer than it said', facts),
};

/** What a proxy did instead of connecting, as the end of a sentence. */
function proxyProblem({ cause, systemCode = '' }: TransportError): {
  readonly problem: string;
  readonly isOfPassword: boolean;
} {
  const status = cause instanceof ProxyRefusal ? cause.status : undefined;
  if (status === 407) {
    return { problem: 'it asks for a user name and password (407)', isOfPassword: true };
  }
  const reason = inBrackets(systemCode === '' ? undefined : systemCode);
  let problem = `it closed the connection${reason}`;
  if (status !== undefined) problem = `it answers ${status}`;
  else if (/^(ENOTFOUND|EAI_AGAIN)$/.test(systemCode)) problem = 'its name cannot be found';
  else if (systemCode === 'ECONNREFUSED') problem = 'it refuses connections';
  else if (/TIMEOUT|ETIMEDOUT/.test(systemCode)) problem = 'it does not answer';
  else if (isNoHttp(cause)) problem = 'what it answers is not valid HTTP';
  else if (isCertificateCode(systemCode)) problem = `its encryption cannot be trusted${reason}`;
  return { problem, isOfPassword: false };
}

/** Whether the parser of Node, or of undici, could not read an answer. */
function isNoHttp(error: unknown): boolean {
  return error instanceof Error && (isParserError(error) || error.name === 'HTTPParserError');
}

function network(message: string, hint: string): Explanation {
  return { code: 'network', exit: 'network', message, hint };
}

function timeout(message: string, hint: string): Explanation {
  return { code: 'timeout', exit: 'network', message, hint };
}

/** A body without its end. Only a proxy that carries the connection is named: the service may have ended it. */
function endedEarly(
  message: string,
  { host, proxy }: TransportError,
  facts: TransportFacts,
): Explanation {
  const from =
    proxy === undefined ? host : `${host}, or the proxy ${proxy} that HTTPS_PROXY names,`;
  const where = facts.isServe
    ? 'the output of `foley serve` has the reason, under this request id.'
    : 'try again, or ask the service, with the request id.';
  return unusable(message, facts, `${from} ended the response early: ${where}`);
}

function unusable(
  message: string,
  { isEmbedded }: TransportFacts,
  hint = 'Check that no proxy or filter is in the way.',
): Explanation {
  const stopped = 'The embedded service on this computer stopped: is it overloaded? Try again.';
  return { code: 'bad_answer', exit: 'badAnswer', message, hint: isEmbedded ? stopped : hint };
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

function inBrackets(code: string | undefined): string {
  return code === undefined ? '' : ` (${code})`;
}

/** The same failure with something told differently. */
export function reviseFailure(
  failure: Failure,
  changes: Partial<FailureOptions> & { readonly message?: string },
): Failure {
  const { code, exit, hint, billed, status, requestId, retryAfter, details, cause } = failure;
  return new Failure(changes.message ?? failure.message, {
    code,
    exit,
    hint,
    billed,
    status,
    requestId,
    retryAfter,
    details,
    cause,
    ...changes,
  });
}

/** Marks the failure of a request that may have been billed, such as a 200 without audio. */
export function charged(failure: Failure): Failure {
  return reviseFailure(failure, { billed: 'unknown' });
}

/** The same failure without the secrets that a server may have put into what it said. */
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
