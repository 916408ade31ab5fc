import type { ExitName } from '../contract/exit-codes.ts';
import type { FailureCode } from '../errors/failure.ts';
import { Failure } from '../errors/failure.ts';
import type { Fault, TransportError } from './transport-error.ts';
import { isCertificateCode, isParserError, ProxyRefusal } from './transport-error.ts';

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
}

interface Explanation {
  readonly code: FailureCode;
  readonly exit: ExitName;
  readonly message: string;
  readonly hint: string;
}

/** What a fault of the connection means to the person who asked (contract, section 4). */
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
  cut: (_error, facts) => unusable('the answer was cut off', facts),
  idle: (_error, facts) =>
    unusable(`the answer stopped: nothing came for ${seconds(facts.idleTimeoutMs)}`, facts),
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

function unusable(message: string, { isEmbedded }: TransportFacts): Explanation {
  const hint = isEmbedded
    ? 'The embedded service on this computer stopped: is it overloaded? Try again.'
    : 'Check that no proxy or filter is in the way.';
  return { code: 'bad_answer', exit: 'badAnswer', message, hint };
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

function inBrackets(code: string | undefined): string {
  return code === undefined ? '' : ` (${code})`;
}
