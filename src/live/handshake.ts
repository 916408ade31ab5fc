import type { IncomingMessage } from 'node:http';
import type { ApiClient } from '../api/client.ts';
import { reviseFailure, statusFailure, transportFailure } from '../api/failures.ts';
import { isHeaderValue, requireProtected } from '../api/request.ts';
import { answerHeaders, badAnswer, readErrorText, parseServiceError } from '../api/response.ts';
import { decideRetry, parseRetryAfter } from '../api/retry.ts';
import { connectFault, TransportError } from '../api/transport/exchange.ts';
import { HEADERS } from '../contract/values.ts';
import { REALTIME_PROTOCOLS } from '../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../contract/realtime/protocols.ts';
import type { Clock } from '../effects/clock.ts';
import { Failure } from '../errors/failure.ts';

/** How a conversation is asked for (docs/api/authentication.md, rules 5 and 7). */
export interface Handshake {
  readonly url: URL;
  readonly subprotocol: string;
  readonly apiKey: string | undefined;
  /** Of this conversation, for the logs of the service. */
  readonly requestId: string;
  readonly userAgent: string;
  readonly clock: Clock;
  /** For a proxy, and for what lies behind it; the conversation itself watches over the rest. */
  readonly timeoutMs: number;
  /** Certificates (PEM) to trust instead of the built-in ones. */
  readonly certificates?: string | undefined;
  /** Another attempt begins; its answer is told next. */
  readonly onConnect: () => void;
  readonly onAnswer: (answer: HandshakeAnswer) => void;
}

/** The status that was answered, or why nothing was. */
type HandshakeAnswer = { readonly url: URL } & (
  | { readonly status: number }
  | { readonly status?: undefined; readonly reason: string }
);

/**
 * The handshake of a conversation, for the realtime host of the address.
 * @throws Failure: auth without a key, usage for an address that would be called without encryption
 */
export function handshakeOf(
  { address, describe }: Pick<ApiClient, 'address' | 'describe'>,
  protocol: RealtimeProtocol,
  options: Pick<Handshake, 'clock' | 'onAnswer' | 'onConnect' | 'requestId' | 'timeoutMs'>,
): Handshake {
  const { livePath: target, subprotocol } = REALTIME_PROTOCOLS[protocol];
  const request = {
    method: 'GET',
    target,
    host: 'realtime',
    billed: true,
    retry: 'never',
  } as const;
  const { headers, url: withHttp } = describe(request);
  const url = new URL(withHttp.href.replace(/^http/, 'ws'));
  requireProtected(url);
  const userAgent = headers['user-agent'] ?? 'foley';
  return { url, subprotocol, apiKey: address.apiKey, userAgent, ...options };
}

/** The key travels in a header, never in the address. */
export function handshakeHeaders({ apiKey, requestId, userAgent }: Handshake) {
  return {
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    'user-agent': userAgent,
    // An id of the person's own may have any characters.
    ...(isHeaderValue(requestId) ? { [HEADERS.requestId]: requestId } : {}),
  };
}

type Refused = Extract<SocketEvent, { type: 'refused' }>;

/** The service answered with HTTP before 101: read as every answer of an error is. */
export async function refusedHandshake(
  handshake: Handshake,
  answer: IncomingMessage,
): Promise<Refused> {
  const { clock, url } = handshake;
  const status = answer.statusCode ?? 0;
  handshake.onAnswer({ url, status });
  const headers = answerHeaders(new Map(Object.entries(answer.headersDistinct).map(joined)));
  const discard = (): void => void answer.destroy();
  const error = parseServiceError(
    await readErrorText({ body: answer, discard, headers }, clock),
    headers,
  );
  const now = clock.now();
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'), headers.get('date'), now);
  const requestId = headers.requestId ?? handshake.requestId;
  const facts = { status, error, requestId, retryAfterMs, billed: false, now };
  const { code } = error;
  const failure = status < 400 ? foreign(status, requestId) : statusFailure(facts);
  const outcome = { kind: 'status', status, code, retryAfterMs } as const;
  return { type: 'refused', failure, isRetryable: mayTryAgain(outcome), retryAfterMs };
}

function joined([name, values = []]: [string, string[] | undefined]): [string, string] {
  return [name, values.join(', ')];
}

function foreign(status: number, requestId: string) {
  const message = `the realtime host answers ${status} and opens no WebSocket`;
  return reviseFailure(badAnswer(message, { requestId, status }), {
    hint: 'Check --realtime-url: is it really the realtime host?',
  });
}

/** There is no answer that could be read: no connection, or not a WebSocket of this protocol. */
export function failedHandshake(
  { clock, onAnswer, requestId, subprotocol, timeoutMs, url }: Handshake,
  error: unknown,
  proxy: string | undefined,
): Refused {
  if (error instanceof Failure) {
    return { type: 'refused', failure: error, isRetryable: false, retryAfterMs: undefined };
  }
  const fault = error instanceof TransportError ? error : explained(error, url, proxy);
  const reason = fault?.systemCode ?? fault?.fault ?? 'no_websocket';
  onAnswer({ url, reason });
  if (fault === undefined) {
    const said = error instanceof Error ? error.message : String(error);
    const message = `the realtime host does not agree to ${subprotocol}: ${said}`;
    const failure = badAnswer(message, { requestId });
    return { type: 'refused', failure, isRetryable: false, retryAfterMs: undefined };
  }
  const waits = {
    connectTimeoutMs: timeoutMs,
    responseTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
  };
  const facts = { billed: false, requestId, now: clock.now(), ...waits };
  const permanent = fault.fault === 'certificate' || fault.fault === 'name_unknown';
  const outcome = fault.unsent
    ? ({ kind: 'unsent', permanent } as const)
    : ({ kind: 'unanswered' } as const);
  const failure = transportFailure(fault, facts);
  return { type: 'refused', failure, isRetryable: mayTryAgain(outcome), retryAfterMs: undefined };
}

/** `ws` gives its own complaints no code; undefined when the answer itself was wrong. */
function explained(
  error: unknown,
  { host }: URL,
  proxy: string | undefined,
): TransportError | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!('code' in error)) return undefined;
  if (error.code === 'ECONNRESET') return new TransportError('reset', host, error, proxy);
  const isParsers = typeof error.code === 'string' && error.code.startsWith('HPE_');
  const fault = isParsers ? 'protocol' : connectFault(error, proxy !== undefined);
  return new TransportError(fault, host, error, proxy);
}

/** As for every request that may be sent again; how often is counted elsewhere. */
function mayTryAgain(outcome: Parameters<typeof decideRetry>[0]['outcome']): boolean {
  const question = { outcome, attempt: 1, maxRetries: 1, rule: 'safe', fraction: 0 } as const;
  return decideRetry({ ...question, keyMadeByTool: false, keyRenewed: false }).retry;
}

/** What a socket tells: first that it is open, or that it was refused; at last that it was closed. */
export type SocketEvent =
  | { readonly type: 'opened' }
  | {
      readonly type: 'refused';
      readonly failure: Failure;
      /** Another attempt may go better. */
      readonly isRetryable: boolean;
      readonly retryAfterMs: number | undefined;
    }
  /** A binary message, whole. Its bytes are the listener's. */
  | { readonly type: 'frame'; readonly bytes: Uint8Array }
  /** What came is no binary message within the limits; nothing follows it. */
  | { readonly type: 'unreadable'; readonly problem: string }
  | { readonly type: 'closed'; readonly code: number };

/** One connection to the realtime host. Nothing of it throws; what goes wrong is told as an event. */
export interface LiveSocket {
  send(frame: Uint8Array): void;
  /** Says why, and ends when the other side has agreed, or after a moment. */
  close(code: number): void;
  /** Ends at once, without a word. */
  abort(): void;
  /** Reads nothing any more, so that the sender has to wait. A few messages may still come. */
  pause(): void;
  resume(): void;
}

/** Opens a connection; its events come later, never before this has returned. */
export type OpenSocket = (listener: (event: SocketEvent) => void) => LiveSocket;
