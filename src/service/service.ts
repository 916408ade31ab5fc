import { EMBEDDED_SERVER, HEADERS } from '../contract/values.ts';
import type { Random } from '../system/random.ts';
import type { BodyCut, FaultRule, Faults, RequestFaults } from './http/faults.ts';
import { createFaults, statusFault } from './http/faults.ts';
import type { IncomingRequest } from './http/guard.ts';
import { createGuard, createKeyTable, isFromLibrary } from './http/guard.ts';
import type { Router } from './http/router.ts';
import { createRouter } from './http/router.ts';
import { prepareAccounts } from './ledger/accounts.ts';
import { verifyLedger } from './ledger/ledger.ts';
import { createPage } from './page/page.ts';
import type { Admission } from './realtime/admission.ts';
import { isLivePath } from './realtime/admission.ts';
import type { Realtime } from './realtime/realtime-service.ts';
import type { ServiceEvent } from './running-service.ts';
import type { ServiceContext, ServiceDeps } from './service-context.ts';
import { createContext } from './service-context.ts';
import { closingError, errorResponse, isInternal } from './service-error.ts';

/** The service without its HTTP server. */
export interface Service {
  /**
   * Returns the response to a request. Never rejects: a failure becomes an error response.
   * @param remoteAddress IP address of the client
   */
  fetch(request: Request, remoteAddress?: string): Promise<Response>;
  /** Accepts or refuses a realtime handshake (docs/api/realtime.md). Never rejects. */
  admit(request: Request): Promise<Response | Admission>;
  /** Starts a session on the WebSocket of an accepted handshake. */
  readonly open: Realtime['open'];
  /** Returns whether a request has an accepted API key. */
  hasKey(headers: Headers): boolean;
  /** Returns how a fault rule breaks the connection while the response is sent; `undefined` if none breaks it. */
  cutOf(response: Response): BodyCut | undefined;
  /** Replaces all fault rules. */
  setFaults(rules: readonly FaultRule[]): void;
  /** Returns the fragment of a one-time link to the web page; `undefined` if no web page is served. */
  invite(): string | undefined;
  /**
   * Refuses new requests, and gives running requests up to `graceMs` to finish, or about a second once `hurry` is
   * aborted. Truncates and refunds the responses that are still unfinished after that. The next process continues
   * unfinished jobs.
   */
  close(hurry?: AbortSignal): Promise<void>;
}

// How long a closing service waits for billed responses and jobs.
const GRACE_MS = 600_000;

/**
 * Creates the service and verifies the ledger. Refunds the unfinished requests of dead service processes, and continues
 * their jobs. The caller must close the store and the engines.
 * @throws StoreError when the ledger does not balance
 */
export function createService(deps: ServiceDeps): Service {
  const { clock, graceMs = GRACE_MS, keys, report, store, verifiesWholeLedger = false } = deps;
  const { allowance, openingCredits } = deps;
  const accounts = [...new Set(keys.map(({ account }) => account))];
  verifyLedger(store, { full: verifiesWholeLedger });
  prepareAccounts(store, accounts, { allowance, openingCredits, now: clock.now() });
  const faults = createFaults(deps.faults ?? []);
  const context = createContext(deps, faults);
  const { creates, generations, jobs, media, operations, realtime } = context;
  const { metrics } = deps;
  if (metrics !== undefined) store.read((db) => metrics.start(db));
  operations.recover();
  jobs.start();
  for (const stored of [context.cachedSpeech, context.designs, realtime.requests, media.imports]) {
    // Files that cannot be deleted now are deleted later.
    void stored.sweep().catch(() => undefined);
  }
  const closing = new AbortController();
  return {
    ...createMiddleware(deps, context, faults, closing.signal),
    open: realtime.open,
    setFaults: (rules) => faults.replace(rules),
    async close(hurry) {
      closing.abort();
      media.imports.close();
      creates.close();
      const count = generations.size + realtime.size;
      if (count > 0 && hurry?.aborted !== true) report({ type: 'finishing-answers', count });
      await Promise.all([
        generations.drain(graceMs, hurry),
        realtime.close(graceMs, hurry),
        jobs.close(graceMs, hurry),
      ]);
      operations.close();
    },
  };
}

interface ServedExchange {
  readonly start: number;
  readonly method: string;
  readonly path: string;
  readonly arrival: IncomingRequest;
  faults: RequestFaults;
}

// Wraps all endpoints in checks of host and origin, fault rules, common headers and the request log. Once `closing` is
// aborted, every request is refused.
function createMiddleware(
  deps: ServiceDeps,
  context: ServiceContext,
  faults: Faults,
  closing: AbortSignal,
) {
  const { clock, hasPage = false, metrics, random, report, store } = deps;
  const cuts = new WeakMap<Response, BodyCut>();
  const keys = createKeyTable(deps.keys);
  const route = createRouter(context, keys);
  const [key] = deps.keys;
  const page =
    hasPage && key !== undefined ? createPage({ clock, random, store, key, route }) : undefined;
  const guard = createGuard(deps);
  const begin = (request: Request, remoteAddress?: string): ServedExchange => ({
    start: clock.monotonic(),
    method: request.method,
    path: new URL(request.url).pathname,
    arrival: { request, requestId: requestIdOf(request.headers, random), remoteAddress },
    faults: {},
  });
  // An error becomes a response.
  const runMiddleware = async <Result>(
    exchange: ServedExchange,
    work: (arrival: IncomingRequest) => Promise<Result>,
  ): Promise<Result | Response> => {
    const { arrival, path } = exchange;
    const { request, requestId } = arrival;
    try {
      guard.check(request, (visitor) =>
        isLivePath(path)
          ? context.realtime.tickets.isExpected(visitor) || isFromLibrary(request.headers, visitor)
          : page?.has(path) === true && page.isOwn(visitor),
      );
      if (!closing.aborted) exchange.faults = faults.ofRequest(exchange);
      const { delay, status } = exchange.faults;
      const abort = AbortSignal.any([closing, request.signal]);
      if (delay !== undefined) await clock.sleep(delay.ms, abort).catch(() => undefined);
      if (closing.aborted) throw closingError();
      if (status !== undefined) throw statusFault(status);
      return await work(arrival);
    } catch (error) {
      // A handler may fail because the client disconnected.
      const isOurs = isInternal(error) && !request.signal.aborted;
      if (isOurs) report({ type: 'failure', requestId, error });
      return errorResponse(error, requestId, path);
    }
  };
  const finish = (exchange: ServedExchange, response: Response): Response => {
    setCommonHeaders(response.headers, exchange.arrival.requestId);
    if (exchange.faults.cut !== undefined) cuts.set(response, exchange.faults.cut);
    report(requestEvent(exchange, response.status, response.headers, clock.monotonic()));
    return response;
  };
  const handlerOf = (path: string): Router => {
    if (metrics?.has(path) === true) return (arrival) => metrics.answer(arrival, context, keys);
    return page?.has(path) === true ? page.answer : route;
  };
  return {
    async fetch(request: Request, remoteAddress?: string): Promise<Response> {
      const exchange = begin(request, remoteAddress);
      return finish(exchange, await runMiddleware(exchange, handlerOf(exchange.path)));
    },
    async admit(request: Request): Promise<Response | Admission> {
      const exchange = begin(request);
      const admitted = await runMiddleware(exchange, (arrival) =>
        context.realtime.admit(arrival, exchange.faults.cut),
      );
      if (admitted instanceof Response) return finish(exchange, admitted);
      report(requestEvent(exchange, 101, new Headers(), clock.monotonic()));
      return admitted;
    },
    hasKey: (headers: Headers) => keys.has(headers),
    cutOf: (response: Response) => cuts.get(response),
    invite: () => page?.invite(),
  };
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

// The client's request id, if it is safe to repeat in a response (docs/api/speech.md#v3).
function requestIdOf(headers: Headers, random: Random): string {
  const given = headers.get(HEADERS.requestId);
  return given !== null && REQUEST_ID.test(given) ? given : random.uuid();
}

// `Server` shows that no real credits were billed.
function setCommonHeaders(headers: Headers, requestId: string): void {
  headers.set(HEADERS.requestId, requestId);
  headers.set('Server', EMBEDDED_SERVER);
  headers.set('Cache-Control', 'no-store');
  headers.set('X-Content-Type-Options', 'nosniff');
}

function requestEvent(
  { start, method, path, arrival: { account, request, requestId }, faults }: ServedExchange,
  status: number,
  headers: Headers,
  now: number,
): ServiceEvent {
  return {
    type: 'request',
    method,
    path,
    status,
    durationMs: now - start,
    requestId,
    idempotencyKey: request.headers.get(HEADERS.idempotencyKey) ?? undefined,
    account,
    credits: headers.get(HEADERS.creditsUsed) ?? undefined,
    faults: [faults.delay, faults.status, faults.cut].filter((effect) => effect !== undefined),
  };
}
