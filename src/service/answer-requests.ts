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
  const route = createRouter(context, createKeyTable(deps.keys));
  const guard = createGuard(deps);
  const answer = async (arrival: Arrival, met: MetFaults): Promise<Response> => {
    const { request } = arrival;
    try {
      guard.check(request);
      if (!closing.aborted) met.faults = faults.ofRequest(lineOf(request));
      const { delay, status } = met.faults;
      const patience = AbortSignal.any([closing, request.signal]);
      // Whoever does not wait is refused, or is gone.
      if (delay !== undefined) await clock.sleep(delay.ms, patience).catch(() => undefined);
      if (closing.aborted) throw closingError();
      if (status !== undefined) throw statusFault(status);
      return await route(arrival);
    } catch (error) {
      return errorResponse(error, arrival.requestId);
    }
  };
  return {
    async fetch(request) {
      const start = clock.monotonic();
      const arrival: Arrival = { request, requestId: requestIdOf(request.headers, random) };
      const met: MetFaults = { faults: {} };
      const response = await answer(arrival, met);
      mark(response.headers, arrival.requestId);
      if (met.faults.cut !== undefined) cuts.set(response, met.faults.cut);
      deps.report(describe(arrival, response, met, clock.monotonic() - start));
      return response;
    },
    cutOf: (response) => cuts.get(response),
  };
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
  { status, headers }: Response,
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
