import type { RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import { REALTIME_PROTOCOLS } from '../../contract/realtime/protocols.ts';
import type { BodyCut } from '../http/faults.ts';
import type { KeyTable } from '../http/guard.ts';
import type { IncomingRequest } from '../http/guard.ts';
import { anyOf } from '../http/validation.ts';
import type { RateLimit } from '../ledger/accounts.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import type { SpeechQueue } from '../speech/speak.ts';
import type { TicketScope } from './tickets.ts';

/** An accepted WebSocket handshake (docs/api/realtime.md and docs/api/authentication.md). */
export interface Admission {
  readonly protocol: RealtimeProtocol;
  readonly traceId: string;
  /** Account of the API key; `undefined` for a browser, which sends a ticket instead of an API key. */
  readonly account: string | undefined;
  /** The web origin and the host that the browser ticket must match; `undefined` if the client sent an API key. */
  readonly place: TicketScope | undefined;
  readonly cut: BodyCut | undefined;
}

interface AdmissionDeps {
  readonly keys: KeyTable;
  readonly rateLimit: RateLimit;
  readonly speechQueue: SpeechQueue;
  /** Returns the number of all connections (`open`) and of those that have not authenticated (`unknown`). */
  readonly connections: () => { readonly open: number; readonly unknown: number };
}

const MAX_CONNECTIONS = 256;
const MAX_UNKNOWN = 32;
// Query parameters that URLs must not contain, because they look like credentials.
const CREDENTIALS = new Set(['token', 'api_key', 'access_token', 'key', 'ticket', 'authorization']);

/**
 * Checks a WebSocket handshake. The caller must already have checked `Host` and `Origin`.
 * @throws ServiceError 400, 401, 404, 426, 429, 501 or 503
 */
export function admit(
  arrival: IncomingRequest,
  cut: BodyCut | undefined,
  deps: AdmissionDeps,
): Admission {
  const { request, requestId: traceId } = arrival;
  const { headers } = request;
  const { pathname, searchParams } = new URL(request.url);
  const protocol = protocolAt(pathname);
  refuseCredentials(searchParams);
  const place = placeOf(headers);
  const isPage = place !== undefined && !headers.has('Authorization');
  const account = isPage ? undefined : deps.keys.accountOf(headers);
  if (account !== undefined) {
    arrival.account = account;
    deps.rateLimit.take(account);
  }
  requireWebSocket(headers);
  requireSubprotocol(headers, protocol);
  requireCapacity(deps.connections(), isPage);
  if (account !== undefined) deps.speechQueue.requireCapacity(account);
  return { protocol, traceId, account, place: isPage ? place : undefined, cut };
}

function protocolAt(path: string): RealtimeProtocol {
  if (path === REALTIME_PROTOCOLS.v3.livePath) return 'v3';
  if (path === REALTIME_PROTOCOLS.v2.livePath) return 'v2';
  throw realtimeV1();
}

function refuseCredentials(query: URLSearchParams): void {
  const field = [...query.keys()].find((name) => CREDENTIALS.has(name.toLowerCase()));
  if (field === undefined) return;
  const message = `${field} is not allowed in the URL; send Authorization, or a ticket in auth`;
  throw invalidRequest([{ field, message }]);
}

// Only browsers send `Origin`.
function placeOf(headers: Headers): TicketScope | undefined {
  const origin = headers.get('Origin');
  const host = headers.get('Host');
  return origin === null || host === null ? undefined : { origin, host };
}

function requireWebSocket(headers: Headers): void {
  const isWebSocket = headers.get('Upgrade')?.toLowerCase() === 'websocket';
  if (!isWebSocket || headers.get('Sec-WebSocket-Version') !== '13') throw upgradeRequired();
  if (/^[+/0-9A-Za-z]{22}==$/.test(headers.get('Sec-WebSocket-Key') ?? '')) return;
  const field = 'Sec-WebSocket-Key';
  throw invalidRequest([{ field, message: `${field} is missing or invalid` }]);
}

function requireSubprotocol(headers: Headers, protocol: RealtimeProtocol): void {
  const { subprotocol } = REALTIME_PROTOCOLS[protocol];
  const field = 'Sec-WebSocket-Protocol';
  const given =
    headers
      .get(field)
      ?.split(',')
      .map((one) => one.trim()) ?? [];
  if (given.includes(subprotocol)) return;
  const problem = given.length === 0 ? 'is missing' : 'names no subprotocol of this path';
  throw invalidRequest([
    { field, message: `${field} ${problem}; allowed: ${anyOf([subprotocol])}` },
  ]);
}

function requireCapacity(
  { open, unknown }: ReturnType<AdmissionDeps['connections']>,
  isPage: boolean,
): void {
  if (open < MAX_CONNECTIONS && !(isPage && unknown >= MAX_UNKNOWN)) return;
  throw new ServiceError('ERR_SERVICE_UNAVAILABLE', 'Too many realtime connections are open', {
    headers: { 'Retry-After': '1' },
  });
}

// The API reserves this path, but does not describe version 1 of realtime speech.
const REALTIME_V1_PATH = '/v1/tts/live';

/** Returns whether a path is for WebSocket handshakes. */
export function isLivePath(path: string): boolean {
  return LIVE_PATHS.has(path);
}

const { v2, v3 } = REALTIME_PROTOCOLS;
const LIVE_PATHS: ReadonlySet<string> = new Set([REALTIME_V1_PATH, v2.livePath, v3.livePath]);

/** Returns the 501 error for version 1 of realtime speech, which is not implemented. */
export function realtimeV1(): ServiceError {
  const message = `Realtime speech is at ${v3.livePath} and ${v2.livePath}; version 1 is not supported`;
  return new ServiceError('ERR_NOT_IMPLEMENTED', message);
}

/** Returns the 426 error for a request that is not a WebSocket handshake. */
export function upgradeRequired(): ServiceError {
  const message = 'This URL requires a WebSocket handshake, version 13';
  return new ServiceError('ERR_UPGRADE_REQUIRED', message, {
    headers: { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
  });
}
