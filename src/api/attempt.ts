import type { Clock } from '../effects/clock.ts';
import { Failure } from '../errors/failure.ts';
import type { Answer } from './response.ts';
import {
  answerHeaders,
  badAnswer,
  isPacked,
  readErrorText,
  parseServiceError,
} from './response.ts';
import { reviseFailure, statusFailure, storeFailure, transportFailure } from './failures.ts';
import type { TransportFacts } from './failures.ts';
import type { Observer, RequestSpec, WireRequest, ServiceAddress } from './request.ts';
import { buildRequest, keyOrigins, isPlainOverNetwork } from './request.ts';
import { redactUrl } from './redact.ts';
import { parseRetryAfter } from './retry.ts';
import type { Ids } from './retry-loop.ts';
import { AttemptFailure } from './retry-loop.ts';
import type { TransportAnswer } from './transport/exchange.ts';
import { TransportError } from './transport/exchange.ts';
import type { Transport } from './transport/http.ts';

const BILLED_RESPONSE_TIMEOUT_MS = 600_000;
const RESPONSE_TIMEOUT_MS = 60_000;
export const IDLE_TIMEOUT_MS = 60_000;

export interface AttemptDeps {
  readonly address: ServiceAddress;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly transport: Transport;
  readonly version: string;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
}

interface Call {
  readonly spec: RequestSpec;
  readonly ids: Ids;
  /** From 1. */
  readonly number: number;
  readonly facts: () => TransportFacts;
}

/**
 * Sends a request once, following redirects.
 * @throws AttemptFailure for anything but a good answer; Failure when it cannot be sent at all
 */
export async function performAttempt(
  deps: AttemptDeps,
  spec: RequestSpec,
  ids: Ids,
  number: number,
): Promise<Answer> {
  const call: Call = { spec, ids, number, facts: () => factsOf(deps, spec, ids) };
  let request = buildRequest(spec, deps.address, ids, deps.version);
  for (let followed = 0; ; followed += 1) {
    const answer = await exchange(deps, call, request);
    const isLink = followed > 0 || typeof spec.target !== 'string';
    if (!isRedirect(answer.status)) return judge(deps, call, answer, { url: request.url, isLink });
    answer.discard();
    const { location } = answer.headers;
    const { status } = answer;
    const step = redirectStep(request, { status, location }, followed);
    if (step.kind === 'refuse') {
      const failure = badAnswer(`the answer is of no use: ${step.why}`, answer);
      throw new AttemptFailure(failure, { kind: 'unusable' });
    }
    request = step.request;
  }
}

function factsOf(deps: AttemptDeps, spec: RequestSpec, ids: Ids): TransportFacts {
  const usual = spec.billed ? BILLED_RESPONSE_TIMEOUT_MS : RESPONSE_TIMEOUT_MS;
  return {
    billed: spec.billed,
    requestId: ids.requestId,
    connectTimeoutMs: deps.connectTimeoutMs,
    responseTimeoutMs: deps.responseTimeoutMs ?? usual,
    idleTimeoutMs: deps.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    now: deps.clock.now(),
    isEmbedded: deps.address.kind === 'embedded',
  };
}

async function exchange(deps: AttemptDeps, call: Call, request: WireRequest): Promise<Answer> {
  const { address, clock, observer, transport } = deps;
  const { facts, ids, number, spec } = call;
  const { responseTimeoutMs, idleTimeoutMs } = facts();
  const { method } = request;
  const url = redactUrl(request.url, keyOrigins(address));
  const start = clock.monotonic();
  const seen = { method, url, attempt: number };
  const ms = (): number => clock.monotonic() - start;
  try {
    const { signal } = spec;
    const limits = { responseTimeoutMs, idleTimeoutMs, signal };
    const fresh = spec.retry === 'never';
    const arrived = await transport.request({ ...request, ...limits, fresh });
    const answer = toAnswer(deps, call, url, arrived);
    const { requestId, status } = answer;
    observer({ type: 'answer', ...seen, status, ms: ms(), requestId });
    return answer;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const reason = error.systemCode ?? error.fault;
    observer({ type: 'no_answer', ...seen, reason, ms: ms(), requestId: ids.requestId });
    throw new AttemptFailure(transportFailure(error, facts()), outcomeOf(error));
  }
}

function outcomeOf(error: TransportError): AttemptFailure['outcome'] {
  if (error.unanswered) return { kind: 'unanswered' };
  if (!error.unsent) return { kind: 'unusable' };
  const { fault } = error;
  return { kind: 'unsent', permanent: fault === 'certificate', once: fault === 'name_unknown' };
}

/** Keeps a good answer; everything else is a failure. */
async function judge(
  deps: AttemptDeps,
  call: Call,
  answer: Answer,
  { isLink, url }: { readonly isLink: boolean; readonly url: URL },
): Promise<Answer> {
  const { headers, requestId, status } = answer;
  if (status >= 200 && status < 300) {
    if (!isPacked(headers)) return answer;
    answer.discard();
    // Nothing that is packed could be checked while it streams.
    const failure = badAnswer('the answer is packed, which was not asked for', answer);
    const billed = call.spec.billed ? 'unknown' : 'no';
    throw new AttemptFailure(reviseFailure(failure, { billed }), { kind: 'unusable' });
  }
  const { retryAfterMs } = answer;
  const mayBeExpired = isLink && call.spec.isFile === true && (status === 401 || status === 403);
  if (mayBeExpired || !keyOrigins(deps.address).has(url.origin)) {
    answer.discard();
    const failure = storeFailure(url.host, { status, requestId, retryAfterMs });
    throw new AttemptFailure(failure, { kind: 'status', status, retryAfterMs });
  }
  const error = parseServiceError(await answer.errorText(), headers);
  const now = deps.clock.now();
  const { billed } = call.spec;
  const retryable = error.details?.['retryable'];
  throw new AttemptFailure(statusFailure({ status, error, requestId, retryAfterMs, billed, now }), {
    kind: 'status',
    status,
    code: error.code,
    retryAfterMs,
    retryable: typeof retryable === 'boolean' ? retryable : undefined,
  });
}

function toAnswer(
  { address, clock }: AttemptDeps,
  call: Call,
  url: string,
  { body, contentLength, framing, headers: all, status }: TransportAnswer,
): Answer {
  const headers = answerHeaders(all);
  const answer = {
    status,
    headers,
    requestId: headers.requestId ?? call.ids.requestId,
    url,
    retryAfterMs: parseRetryAfter(headers.get('retry-after'), headers.get('date'), clock.now()),
    framing,
    contentLength,
    body: {
      [Symbol.asyncIterator]: () => explained({ body, headers }, call, address),
    },
    discard: () => body.discard(),
  };
  return { ...answer, errorText: () => readErrorText(answer, clock) };
}

/** The bytes of an answer, with faults told as failures. */
async function* explained(
  { body, headers }: Pick<TransportAnswer, 'body'> & Pick<Answer, 'headers'>,
  { facts }: Call,
  { failureOf }: ServiceAddress,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { requestId } = facts();
    const reason = error.fault === 'cut' ? failureOf?.(requestId) : undefined;
    if (reason !== undefined) throw brokenOff(reason, requestId);
    throw transportFailure(error, { ...facts(), isServe: headers.isEmbedded });
  }
}

/** The embedded service broke a response off, since its engine failed. */
function brokenOff(reason: string, requestId: string): Failure {
  return new Failure(`the service broke the speech off: ${reason}`, {
    code: 'ERR_GENERATION_FAILED',
    exit: 'service',
    hint: 'It was refunded.',
    billed: 'no',
    requestId,
  });
}

const MOST_REDIRECTS = 5;
/** What a request may carry to a stranger. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'if-range', 'range', 'user-agent']);

/** What is to be done with an answer that points elsewhere. */
type RedirectStep =
  | { readonly kind: 'follow'; readonly request: WireRequest }
  | { readonly kind: 'refuse'; readonly why: string };

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/**
 * Where a redirect leads: a read follows up to five, with its key as long as
 * the origin stays the same and with nothing of ours once it does not, and never from https to http.
 * A write is never sent to another origin, nor turned into a read.
 */
function redirectStep(
  request: WireRequest,
  answer: { readonly status: number; readonly location: string | undefined },
  followed: number,
): RedirectStep {
  const { location, status } = answer;
  if (location === undefined || !URL.canParse(location, request.url.href)) {
    return refuse('it redirects to nowhere');
  }
  const url = new URL(location, request.url);
  url.username = '';
  url.password = '';
  url.hash = '';
  const away = url.origin !== request.url.origin;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse(`it redirects to a ${url.protocol} address`);
  }
  if (request.url.protocol === 'https:' && url.protocol === 'http:') {
    return refuse(`it redirects from https to ${url.origin}`);
  }
  if (isPlainOverNetwork(url)) return refuse(`it redirects to ${url.origin}, without encryption`);
  if (followed >= MOST_REDIRECTS) return refuse(`it redirects more than ${MOST_REDIRECTS} times`);
  if (isRead(request.method)) return follow(request, url, away);
  if (away) return refuse(`it redirects a ${request.method} to ${url.origin}`);
  if (status !== 307 && status !== 308) return refuse(`it redirects a ${request.method}`);
  return follow(request, url, away);
}

function follow(request: WireRequest, url: URL, away: boolean): RedirectStep {
  const headers = away
    ? Object.fromEntries(Object.entries(request.headers).filter(([name]) => HARMLESS.has(name)))
    : request.headers;
  return { kind: 'follow', request: { ...request, url, headers } };
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function refuse(why: string): RedirectStep {
  return { kind: 'refuse', why };
}
