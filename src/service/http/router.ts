import { Hono } from 'hono';
import type { Endpoint } from '../../contract/endpoint.ts';
import { DEFINITIONS } from '../../contract/endpoints.ts';
import type { EndpointId } from '../../contract/generated/endpoints.ts';
import type { Call, CallTo, Handlers } from '../endpoints/call.ts';
import { HANDLERS } from '../endpoints/handlers.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError, errorResponse, isInternal } from '../service-error.ts';
import type { KeyTable } from './guard.ts';
import type { Arrival } from './request.ts';
import { readBody, requestKeysOf, requireQuery, requireValid } from './request.ts';

/** Finds the endpoint of a request and answers it; every failure becomes the error envelope. */
export type Router = (arrival: Arrival) => Promise<Response>;

interface Variables {
  readonly Bindings: { readonly arrival: Arrival };
}

/** Routes every endpoint of the contract to its handler, with the input that its definition asks for. */
export function createRouter(context: ServiceContext, keys: KeyTable): Router {
  const app = new Hono<Variables>();
  for (const endpoint of DEFINITIONS) {
    app.on(endpoint.method, pattern(endpoint.path), async (c) => {
      const { arrival } = c.env;
      if (!('public' in endpoint)) {
        arrival.account = keys.accountOf(arrival.request.headers);
        context.rateLimit.take(arrival.account);
      }
      const call = await readCall(endpoint, arrival, c.req.param());
      return handle(endpoint.id, HANDLERS[endpoint.id], { call, context });
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

/** A request with what the definition of its endpoint asks for. */
interface ReadCall extends Call {
  readonly endpoint: string;
  readonly account: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly key: object;
}

/**
 * Reads and validates a request by the definition of its endpoint, in the order of docs/service.md: query, type and size of
 * the body, its fields, idempotency keys.
 * @throws ServiceError 400, 413 or 415
 */
async function readCall(
  endpoint: Endpoint,
  { account, request, requestId }: Arrival,
  parameters: ReadCall['parameters'],
): Promise<ReadCall> {
  const { id, body: schema, bodyType, charges } = endpoint;
  const query = endpoint.query && requireQuery(request.url, endpoint.query);
  const body =
    schema === undefined || bodyType !== undefined
      ? undefined
      : requireValid(schema, await readBody(request, endpoint), 'The body');
  const keys = charges && requestKeysOf(request.headers, endpoint);
  const key = { accountId: account, endpoint: id, ...keys };
  return { endpoint: id, request, requestId, account, parameters, query, body, key };
}

function handle<Id extends EndpointId>(
  id: Id,
  handler: Handlers[Id],
  { call, context }: { readonly call: ReadCall; readonly context: ServiceContext },
): Response | Promise<Response> {
  if (!isCallTo(id, call)) throw new TypeError(`a call to ${call.endpoint}, not ${id}`);
  return handler(call, context);
}

/** Whether a call was read for this endpoint: then it has the input that its type derives from the same definition. */
function isCallTo<Id extends EndpointId>(id: Id, call: ReadCall): call is ReadCall & CallTo<Id> {
  return call.endpoint === id;
}

/** `/voices/{voiceId}` as the router writes it: `/voices/:voiceId`. */
function pattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function methodsByPath(): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  for (const { method, path } of DEFINITIONS) {
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
