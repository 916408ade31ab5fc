import { HEADERS } from '../contract/headers.ts';
import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import type { BodyCut } from './faults/fault-rule.ts';
import type { Faults, RequestFaults } from './faults/faults.ts';
import { statusFault } from './faults/status-fault.ts';
import { errorResponse } from './http/envelope.ts';
import type { GuardOptions } from './http/guard.ts';
import { createGuard } from './http/guard.ts';
import { createKeyTable } from './http/key-table.ts';
import { requestIdOf } from './http/request-id.ts';
import type { Arrival } from './http/router.ts';
import { createRouter } from './http/router.ts';
import type { Admission } from './realtime/admission.ts';
import { isLivePath } from './realtime/live-paths.ts';
import type { AccountKey, ServiceEvent } from './running-service.ts';
import type { ServiceContext } from './service-context.ts';
import { ServiceError } from './service-error.ts';

export interface AnsweringDeps extends GuardOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: readonly AccountKey[];
  readonly report: (event: ServiceEvent) => void;
}

/** A request becomes an answer. */
export interface Answering {
  /** Never rejects: a failure is an answer too. */
  fetch(request: Request): Promise<Response>;
  /**
   * A handshake becomes an answer, or a connection that may be opened (spec section 4.10). Never rejects.
   */
  admit(request: Request): Promise<Response | Admission>;
  /** Where an answer is to stop, if a fault rule wants that; whoever writes it to the socket does it. */
  cutOf(response: Response): BodyCut | undefined;
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
  const { clock, random } = deps;
  const cuts = new WeakMap<Response, BodyCut>();
  const { realtime } = context;
  const route = createRouter(context, createKeyTable(deps.keys));
  const guard = createGuard(deps);
  /** Lets a request in, and has the work on it done. */
  const answer = async <Result>(
    arrival: Arrival,
    met: MetFaults,
    work: (arrival: Arrival) => Result | Promise<Result>,
  ): Promise<Result | Response> => {
    const { request } = arrival;
    try {
      guard.check(
        request,
        isLivePath(lineOf(request).path) ? realtime.tickets.isExpected : undefined,
      );
      if (!closing.aborted) met.faults = faults.ofRequest(lineOf(request));
      const { delay, status } = met.faults;
      const patience = AbortSignal.any([closing, request.signal]);
      // Whoever does not wait is refused, or is gone.
      if (delay !== undefined) await clock.sleep(delay.ms, patience).catch(() => undefined);
      if (closing.aborted) throw closingError();
      if (status !== undefined) throw statusFault(status);
      return await work(arrival);
    } catch (error) {
      return errorResponse(error, arrival.requestId);
    }
  };
  const arriving = (request: Request): Arriving => ({
    start: clock.monotonic(),
    arrival: { request, requestId: requestIdOf(request.headers, random) },
    met: { faults: {} },
  });
  const told = ({ start, arrival, met }: Arriving, response: Response): Response => {
    mark(response.headers, arrival.requestId);
    if (met.faults.cut !== undefined) cuts.set(response, met.faults.cut);
    deps.report(describe(arrival, response, met, clock.monotonic() - start));
    return response;
  };
  return {
    async fetch(request) {
      const one = arriving(request);
      return told(one, await answer(one.arrival, one.met, route));
    },
    async admit(request) {
      const one = arriving(request);
      const admitted = await answer(one.arrival, one.met, realtime.admit);
      if (admitted instanceof Response) return told(one, admitted);
      const { start, arrival, met } = one;
      deps.report(describe(arrival, SWITCHING, met, clock.monotonic() - start));
      return { ...admitted, cut: met.faults.cut };
    },
    cutOf: (response) => cuts.get(response),
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
  headers.set('Server', 'foley-embedded');
  headers.set('Cache-Control', 'no-store');
  headers.set('X-Content-Type-Options', 'nosniff');
}

function describe(
  { request, requestId, account }: Arrival,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  { faults: { delay, status: error, cut } }: MetFaults,
  durationMs: number,
): ServiceEvent {
  return {
    type: 'request',
    ...lineOf(request),
    status,
    durationMs,
    requestId,
    account,
    credits: headers.get(HEADERS.creditsUsed) ?? undefined,
    faults: [delay, error, cut].filter((effect) => effect !== undefined),
  };
}

function closingError(): ServiceError {
  return new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is closing', {
    headers: { 'Retry-After': '1', Connection: 'close' },
  });
}
