import { EMBEDDED_SERVER, HEADERS } from '../contract/values.ts';
import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import { errorResponse, isInternal, closingError } from './service-error.ts';
import type { BodyCut, Faults, RequestFaults } from './http/faults.ts';
import { statusFault } from './http/faults.ts';
import type { GuardOptions } from './http/guard.ts';
import { createGuard, createKeyTable } from './http/guard.ts';
import type { Arrival } from './http/request.ts';
import { requestIdOf } from './http/request.ts';
import { createRouter } from './http/router.ts';
import { createPage } from './page/page.ts';
import type { Admission } from './realtime/admission.ts';
import { isLivePath } from './realtime/admission.ts';
import type { AccountKey, ServiceEvent } from './running-service.ts';
import type { ServiceContext } from './service-context.ts';

/** Turns requests into responses. */
export interface Answering {
  /** Never rejects: a failure becomes an error response. */
  fetch(request: Request): Promise<Response>;
  /** Answers a realtime handshake: an error response, or an admission (docs/api/realtime.md). Never rejects. */
  admit(request: Request): Promise<Response | Admission>;
  /** Whether a request has an accepted key. */
  hasKey(headers: Headers): boolean;
  /** Returns where a fault rule cuts the body of a response; the server does the cutting. */
  cutOf(response: Response): BodyCut | undefined;
  /** Returns a one-time fragment for the address of the page; `undefined` without a page. */
  invite(): string | undefined;
}

/** A request in progress. */
interface Exchange {
  readonly start: number;
  readonly method: string;
  readonly path: string;
  readonly arrival: Arrival;
  faults: RequestFaults;
}

/**
 * Creates the middleware around the endpoints: host and origin checks, fault rules, headers of every
 * response and the request log. Refuses every request once `closing` is aborted.
 */
export function answerRequests(
  deps: GuardOptions & {
    readonly clock: Clock;
    readonly random: Random;
    readonly keys: readonly AccountKey[];
    readonly report: (event: ServiceEvent) => void;
    /** Whether to serve the page at `/`. */
    readonly hasPage?: boolean | undefined;
  },
  context: ServiceContext,
  faults: Faults,
  closing: AbortSignal,
): Answering {
  const { clock, hasPage = false, random, report } = deps;
  const cuts = new WeakMap<Response, BodyCut>();
  const keys = createKeyTable(deps.keys);
  const route = createRouter(context, keys);
  const [key] = deps.keys;
  const page =
    hasPage && key !== undefined ? createPage({ clock, random, key, route, context }) : undefined;
  const guard = createGuard(deps);
  const begin = (request: Request): Exchange => ({
    start: clock.monotonic(),
    method: request.method,
    path: new URL(request.url).pathname,
    arrival: { request, requestId: requestIdOf(request.headers, random) },
    faults: {},
  });
  /** Runs `work` behind the checks that every request passes; turns an error into its response. */
  const runMiddleware = async <Result>(
    exchange: Exchange,
    work: (arrival: Arrival) => Promise<Result>,
  ): Promise<Result | Response> => {
    const { arrival, path } = exchange;
    const { request, requestId } = arrival;
    try {
      guard.check(request, (visitor) =>
        isLivePath(path)
          ? context.realtime.tickets.isExpected(visitor)
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
      if (isInternal(error)) report({ type: 'failure', requestId, error });
      return errorResponse(error, requestId, path);
    }
  };
  const finish = (exchange: Exchange, response: Response): Response => {
    setCommonHeaders(response.headers, exchange.arrival.requestId);
    if (exchange.faults.cut !== undefined) cuts.set(response, exchange.faults.cut);
    report(requestEvent(exchange, response.status, response.headers, clock.monotonic()));
    return response;
  };
  return {
    async fetch(request) {
      const exchange = begin(request);
      const { answer } = page?.has(exchange.path) === true ? page : { answer: route };
      return finish(exchange, await runMiddleware(exchange, answer));
    },
    async admit(request) {
      const exchange = begin(request);
      const admitted = await runMiddleware(exchange, (arrival) => context.realtime.admit(arrival));
      if (admitted instanceof Response) return finish(exchange, admitted);
      report(requestEvent(exchange, 101, new Headers(), clock.monotonic()));
      return { ...admitted, cut: exchange.faults.cut };
    },
    hasKey: (headers) => keys.has(headers),
    cutOf: (response) => cuts.get(response),
    invite: () => page?.invite(),
  };
}

/** Sets the headers of every response. `Server` shows that no real credits were billed. */
function setCommonHeaders(headers: Headers, requestId: string): void {
  headers.set(HEADERS.requestId, requestId);
  headers.set('Server', EMBEDDED_SERVER);
  headers.set('Cache-Control', 'no-store');
  headers.set('X-Content-Type-Options', 'nosniff');
}

function requestEvent(
  { start, method, path, arrival: { requestId, account }, faults }: Exchange,
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
    account,
    credits: headers.get(HEADERS.creditsUsed) ?? undefined,
    faults: [faults.delay, faults.status, faults.cut].filter((effect) => effect !== undefined),
  };
}
