import { Hono } from 'hono';
import { ENDPOINTS } from '../../contract/generated/endpoints.ts';
import { ACCOUNT_HANDLERS, PUBLIC_HANDLERS } from '../endpoints/handlers.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError, errorResponse, isInternal } from '../service-error.ts';
import type { KeyTable } from './guard.ts';
import type { Arrival } from './request.ts';

/** Finds the endpoint of a request and answers it; every failure becomes the error envelope. */
export type Router = (arrival: Arrival) => Promise<Response>;

interface Variables {
  readonly Bindings: { readonly arrival: Arrival };
}

/** Routes every endpoint of the contract to its handler; accounts come from the keys. */
export function createRouter(context: ServiceContext, keys: KeyTable): Router {
  const app = new Hono<Variables>();
  for (const endpoint of ENDPOINTS) {
    app.on(endpoint.method, pattern(endpoint.path), async (c) => {
      const { arrival } = c.env;
      const { requestId } = arrival;
      const call = { request: c.req.raw, requestId, parameters: c.req.param() };
      if ('public' in endpoint) return PUBLIC_HANDLERS[endpoint.id](call, context);
      const account = keys.accountOf(call.request.headers);
      arrival.account = account;
      context.rateLimit.take(account);
      return ACCOUNT_HANDLERS[endpoint.id]({ ...call, account }, context);
    });
  }
  for (const [path, methods] of methodsByPath()) {
    app.all(pattern(path), () => {
      throw methodNotAllowed(methods);
    });
  }
  app.notFound((c) =>
    errorResponse(
      new ServiceError('ERR_NOT_FOUND', 'There is no such endpoint; see /api/open/v3/openapi.json'),
      c.env.arrival.requestId,
      c.req.path,
    ),
  );
  app.onError((error, c) => {
    const { requestId } = c.env.arrival;
    // What breaks because its client left is nobody's failure.
    const isOurs = isInternal(error) && !c.req.raw.signal.aborted;
    if (isOurs) context.report({ type: 'failure', requestId, error });
    return errorResponse(error, requestId, c.req.path);
  });
  return async (arrival) => app.fetch(arrival.request, { arrival });
}

/** `/voices/{voiceId}` as the router writes it: `/voices/:voiceId`. */
function pattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function methodsByPath(): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  for (const { method, path } of ENDPOINTS) {
    const known = methods.get(path) ?? [];
    methods.set(path, [...known, method, ...(method === 'GET' ? ['HEAD'] : [])]);
  }
  return methods;
}

function methodNotAllowed(methods: readonly string[]): ServiceError {
  const allow = methods.join(', ');
  return new ServiceError('ERR_METHOD_NOT_ALLOWED', `This endpoint answers ${allow} only`, {
    headers: { Allow: allow },
  });
}
