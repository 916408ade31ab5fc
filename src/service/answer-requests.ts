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
import type { Router } from './http/router.ts';
import { createRouter } from './http/router.ts';
import type { ServicePage } from './page/page.ts';
import { createPage } from './page/page.ts';
import type { Admission } from './realtime/admission.ts';
import { isLivePath } from './realtime/admission.ts';
import type { Realtime } from './realtime/realtime.ts';
import type { AccountKey, ServiceEvent } from './running-service.ts';
import type { ServiceContext } from './service-context.ts';

export interface AnsweringDeps extends GuardOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: readonly AccountKey[];
  readonly report: (event: ServiceEvent) => void;
  /** Whether there is a page at `/` for people. */
  readonly hasPage?: boolean | undefined;
}

/** A request becomes an answer. */
export interface Answering {
  /** Never rejects: a failure is an answer too. */
  fetch(request: Request): Promise<Response>;
  /**
   * A handshake becomes an answer, or a connection that may be opened (docs/api/realtime.md). Never rejects.
   */
  admit(request: Request): Promise<Response | Admission>;
  /** Whether a request has a key that is accepted. */
  hasKey(headers: Headers): boolean;
  /** Where an answer is to stop, if a fault rule wants that; whoever writes it to the socket does it. */
  cutOf(response: Response): BodyCut | undefined;
  /** What the address of the page ends in for somebody who may see it; `undefined` where there is none. */
  invite(): string | undefined;
}

/**
 * Everything around the endpoints: who may be asked, what fault rules do, the headers of every answer,
 * and the report of it. Once `closing` is aborted every request is refused.
 */
export function answerRequests(
  deps: AnsweringDeps,
  context: ServiceContext,
  faults: Faults,
  closing: AbortSignal,
): Answering {
  const { clock, random, report } = deps;
  const cuts = new WeakMap<Response, BodyCut>();
  const keys = createKeyTable(deps.keys);
  const api = createRouter(context, keys);
  const page = pageOf(deps, context, api);
  const route: Router = (arrival) =>
    page?.has(new URL(arrival.request.url).pathname) === true ? page.answer(arrival) : api(arrival);
  const letIn = createDoor(deps, context.realtime, { closing, faults, page });
  const arriving = (request: Request): Arriving => ({
    start: clock.monotonic(),
    arrival: { request, requestId: requestIdOf(request.headers, random) },
    met: { faults: {} },
  });
  const told = (one: Arriving, response: Response): Response => {
    mark(response.headers, one.arrival.requestId);
    if (one.met.faults.cut !== undefined) cuts.set(response, one.met.faults.cut);
    report(describe(one, response, clock.monotonic()));
    return response;
  };
  return {
    async fetch(request) {
      const one = arriving(request);
      return told(one, await letIn(one, route));
    },
    async admit(request) {
      const one = arriving(request);
      const admitted = await letIn(one, (arrival) => context.realtime.admit(arrival));
      if (admitted instanceof Response) return told(one, admitted);
      report(describe(one, SWITCHING, clock.monotonic()));
      return { ...admitted, cut: one.met.faults.cut };
    },
    hasKey(headers) {
      try {
        keys.accountOf(headers);
        return true;
      } catch {
        return false;
      }
    },
    cutOf: (response) => cuts.get(response),
    invite: () => page?.invite(),
  };
}

function pageOf(
  { clock, hasPage, keys: [key], random }: AnsweringDeps,
  context: ServiceContext,
  route: Router,
): ServicePage | undefined {
  if (hasPage !== true || key === undefined) return undefined;
  return createPage({ clock, random, key, route, context });
}

type Door = <Result>(
  one: Arriving,
  work: (arrival: Arrival) => Promise<Result>,
) => Promise<Result | Response>;

interface Conditions {
  readonly faults: Faults;
  /** Once it is aborted nothing is let in. */
  readonly closing: AbortSignal;
  readonly page: ServicePage | undefined;
}

/** Lets a request in after what every one has to pass, and has the work on it done. */
function createDoor(
  deps: AnsweringDeps,
  { tickets }: Realtime,
  { closing, faults, page }: Conditions,
): Door {
  const guard = createGuard(deps);
  return async ({ arrival, met }, work) => {
    const { request, requestId } = arrival;
    const line = lineOf(request);
    try {
      guard.check(request, (visitor) =>
        isLivePath(line.path)
          ? tickets.isExpected(visitor)
          : page?.has(line.path) === true && page.isOwn(visitor),
      );
      if (!closing.aborted) met.faults = faults.ofRequest(line);
      const { delay, status } = met.faults;
      const patience = AbortSignal.any([closing, request.signal]);
      // Whoever does not wait is refused, or is gone.
      if (delay !== undefined) await deps.clock.sleep(delay.ms, patience).catch(() => undefined);
      if (closing.aborted) throw closingError();
      if (status !== undefined) throw statusFault(status);
      return await work(arrival);
    } catch (error) {
      if (isInternal(error)) deps.report({ type: 'failure', requestId, error });
      return errorResponse(error, requestId, line.path);
    }
  };
}

/** An answer that a WebSocket begins with has nothing that could be told of it. */
const SWITCHING = { status: 101, headers: new Headers() };

/** A request on its way. */
interface Arriving {
  readonly start: number;
  readonly arrival: Arrival;
  readonly met: MetFaults;
}

interface MetFaults {
  faults: RequestFaults;
}

function lineOf({ method, url }: Request): { readonly method: string; readonly path: string } {
  return { method, path: new URL(url).pathname };
}

/** Headers of every answer. `Server` tells a person that nothing of this was billed by anyone. */
function mark(headers: Headers, requestId: string): void {
  headers.set(HEADERS.requestId, requestId);
  headers.set('Server', EMBEDDED_SERVER);
  headers.set('Cache-Control', 'no-store');
  headers.set('X-Content-Type-Options', 'nosniff');
}

function describe(
  { start, arrival: { request, requestId, account }, met: { faults } }: Arriving,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  now: number,
): ServiceEvent {
  return {
    type: 'request',
    ...lineOf(request),
    status,
    durationMs: now - start,
    requestId,
    account,
    credits: headers.get(HEADERS.creditsUsed) ?? undefined,
    faults: [faults.delay, faults.status, faults.cut].filter((effect) => effect !== undefined),
  };
}
