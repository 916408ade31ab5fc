import { TrieRouter } from 'hono/router/trie-router';
import { Hono } from 'hono';
import type { TObject } from 'typebox';
import type { Endpoint } from '../../contract/endpoint.ts';
import { DEFINITIONS } from '../../contract/endpoints.ts';
import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../../contract/limits.ts';
import { HEADERS, MESSAGE_PACK } from '../../contract/values.ts';
import * as account from '../endpoints/account-endpoints.ts';
import { getOpenApi } from '../endpoints/account-endpoints.ts';
import type { Call, CallTo, Handlers } from '../endpoints/call.ts';
import * as jobs from '../endpoints/job-endpoints.ts';
import * as lipSync from '../endpoints/lip-sync-endpoints.ts';
import { createLipSync, listLipSync } from '../endpoints/lip-sync-endpoints.ts';
import * as media from '../endpoints/media-endpoints.ts';
import * as otherClients from '../endpoints/other-client-endpoints.ts';
import * as speech from '../endpoints/speech-endpoints.ts';
import * as voiceDesigns from '../endpoints/voice-design-endpoints.ts';
import * as voices from '../endpoints/voice-endpoints.ts';
import { createVoice, deleteVoice } from '../endpoints/voice-endpoints.ts';
import { realtimeV1, upgradeRequired } from '../realtime/admission.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import type { IncomingRequest, KeyTable } from './guard.ts';
import type { FieldSchema } from './validation.ts';
import { requireBodyType, requireValid, typeParts, unsupported } from './validation.ts';

// Loaded on demand, because few processes receive a realtime request.
const realtime = () => import('../endpoints/realtime-endpoints.ts');

// A plain HTTP request at the path of the WebSocket endpoint (docs/api/realtime.md).
const refuseRealtime = (): never => {
  throw upgradeRequired();
};

const HANDLERS: Handlers = {
  ...account,
  ...jobs,
  ...lipSync,
  ...media,
  ...otherClients,
  ...speech,
  ...voiceDesigns,
  ...voices,
  createModel: createVoice,
  deleteVoiceV3: deleteVoice,
  getOpenApiV1: getOpenApi,
  createLipSyncLegacy: createLipSync,
  listLipSyncLegacy: listLipSync,
  openRealtimeV1() {
    throw realtimeV1();
  },
  openRealtimeV2: refuseRealtime,
  openRealtimeV3: refuseRealtime,
  createBrowserTicket: async (...of) => (await realtime()).createBrowserTicket('v3', ...of),
  createBrowserTicketV2: async (...of) => (await realtime()).createBrowserTicket('v2', ...of),
  getRealtimeCapabilities: async (...of) => (await realtime()).getCapabilities('v3', ...of),
  getRealtimeCapabilitiesV2: async (...of) => (await realtime()).getCapabilities('v2', ...of),
  getRealtimeRequest: async (...of) => (await realtime()).getRequest('v3', ...of),
  getRealtimeRequestV2: async (...of) => (await realtime()).getRequest('v2', ...of),
  getRealtimeSegment: async (...of) => (await realtime()).getSegment(...of),
};

/** Passes a request to the handler of its endpoint. @throws ServiceError, and errors of the handler */
export type Router = (arrival: IncomingRequest) => Promise<Response>;

interface Variables {
  readonly Bindings: { readonly arrival: IncomingRequest };
}

/**
 * Creates the router for all endpoints. The router checks, in this order, the API key, the rate limit, the query, the
 * body and the idempotency keys. It then calls the handler of the endpoint.
 */
export function createRouter(context: ServiceContext, keys: KeyTable): Router {
  // Hono's default router matches fastest, but building it takes 20 times as long, in every command that starts the service.
  const app = new Hono<Variables>({ router: new TrieRouter() });
  const methods = new Map<string, string[]>();
  for (const endpoint of DEFINITIONS) {
    const { id, method, path } = endpoint;
    const others = methods.get(path) ?? [];
    methods.set(path, [...others, method, ...(method === 'GET' ? ['HEAD'] : [])]);
    app.on(method, pattern(path), async (c) => {
      const { arrival } = c.env;
      if (!('public' in endpoint)) {
        arrival.account = keys.accountOf(arrival.request.headers);
        context.rateLimit.take(arrival.account);
      }
      const call = await readCall(endpoint, arrival, c.req.param());
      return handle(id, HANDLERS[id], { call, context });
    });
  }
  for (const [path, allowed] of methods) {
    const Allow = allowed.join(', ');
    app.all(pattern(path), () => {
      const message = `This endpoint accepts ${Allow} only`;
      throw new ServiceError('ERR_METHOD_NOT_ALLOWED', message, { headers: { Allow } });
    });
  }
  app.notFound(() => {
    throw new ServiceError('ERR_NOT_FOUND', 'No such endpoint; see /api/open/v3/openapi.json');
  });
  // The middleware converts errors to responses.
  app.onError((error) => {
    throw error;
  });
  return async (arrival) => app.fetch(arrival.request, { arrival });
}

interface ReadCall extends Call {
  readonly endpoint: string;
  readonly account: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly key: object;
}

// The order is documented in docs/service.md: query, type and size of the body, fields of the body, idempotency keys.
async function readCall(
  endpoint: Endpoint,
  { account: accountId, request, requestId }: IncomingRequest,
  parameters: ReadCall['parameters'],
): Promise<ReadCall> {
  const { id, body: schema, bodyType, charges } = endpoint;
  const query = endpoint.query && requireQuery(request.url, endpoint.query);
  const body =
    schema === undefined || bodyType !== undefined
      ? undefined
      : requireValid(schema, await readBody(request, endpoint), 'The body');
  const key = { accountId, endpoint: id, ...(charges && requestKeysOf(request.headers, endpoint)) };
  return { endpoint: id, request, requestId, account: accountId, parameters, query, body, key };
}

function handle<Id extends EndpointId>(
  id: Id,
  handler: Handlers[Id],
  { call, context }: { readonly call: ReadCall; readonly context: ServiceContext },
): Response | Promise<Response> {
  if (!isCallTo(id, call)) throw new TypeError(`A call to ${call.endpoint} reached ${id}`);
  return handler(call, context);
}

function isCallTo<Id extends EndpointId>(id: Id, call: ReadCall): call is ReadCall & CallTo<Id> {
  return call.endpoint === id;
}

// From `/voices/{voiceId}` to `/voices/:voiceId`.
function pattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function requireQuery(url: string, schema: TObject): unknown {
  const values: Record<string, unknown> = {};
  for (const [name, value] of new URL(url).searchParams) {
    if (Object.hasOwn(values, name)) {
      throw invalidRequest([{ field: name, message: `${name} is given more than once` }]);
    }
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    Object.defineProperty(values, name, {
      value: property === undefined ? value : convert(value, property),
      enumerable: true,
    });
  }
  return requireValid(schema, values, 'The query');
}

// An invalid value stays text, which the schema refuses.
function convert(value: string, schema: FieldSchema): unknown {
  if (schema.type === 'integer' && /^(?:0|-?[1-9]\d{0,14})$/.test(value)) return Number(value);
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

// docs/api/errors.md#idempotency
function requestKeysOf(headers: Headers, { isKeyedByRequestId, isKeyRequired, repeat }: Endpoint) {
  if (repeat === undefined) return { idempotencyKey: undefined };
  const requestKey = keyIn(headers, HEADERS.requestId);
  const field = HEADERS.idempotencyKey;
  const idempotencyKey = keyIn(headers, field);
  if (idempotencyKey === undefined && isKeyRequired === true) {
    throw invalidRequest([{ field, message: `${field} is missing; it is required` }]);
  }
  return { idempotencyKey, requestKey: isKeyedByRequestId === true ? requestKey : undefined };
}

function keyIn(headers: Headers, field: string): string | undefined {
  const key = headers.get(field);
  if (key === null) return undefined;
  if (key.length <= IDEMPOTENCY_KEY_MAX_CHARACTERS && VISIBLE_ASCII.test(key)) return key;
  const allowed = `1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} visible ASCII characters`;
  const problem = VISIBLE_ASCII.test(key) ? `has ${key.length} characters` : 'has other characters';
  throw invalidRequest([{ field, message: `${field} ${problem}; allowed: ${allowed}` }]);
}

async function readBody(
  request: Request,
  { ignoresNull, isBodyOptional, otherBodyType }: Endpoint,
): Promise<unknown> {
  if (isBodyOptional === true && !hasBody(request)) return {};
  const isJson = otherBodyType === undefined || typeParts(request.headers)[0] === JSON_TYPE;
  const body = await (isJson ? readJsonBody(request) : readMessagePack(request));
  if (ignoresNull !== true) return body;
  return mapFields(body, (field) => mapFields(field, (inner) => inner));
}

// Omits fields for which `work` returns `null`; returns a value that is no object unchanged.
function mapFields(value: unknown, work: (field: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, work(field)]));
}

// Checks headers too: over HTTP, a request without a body can have an empty stream.
function hasBody({ body, headers }: Request): boolean {
  const isAnnounced = headers.has('Content-Length') || headers.has('Transfer-Encoding');
  if (isAnnounced) return headers.get('Content-Length') !== '0';
  return body !== null && headers.has('Content-Type');
}

const JSON_TYPE = 'application/json';

/** Reads a JSON body. @throws ServiceError 415 for another type, 413 above the limit, 400 for invalid UTF-8 or JSON */
export async function readJsonBody(request: Request): Promise<unknown> {
  const parameters = requireBodyType(request.headers, [JSON_TYPE]);
  const charset = parameters.find((one) => one.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw unsupported('The body must be UTF-8');
  }
  const bytes = await readBodyBytes(request);
  const json = decodeBody('UTF-8', () => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (json.trim() === '') throw invalidBody('The body is empty; a JSON object is required');
  return decodeBody('JSON', (): unknown => JSON.parse(json));
}

// The memory of a MessagePack list is allocated before its items are read.
const MAX_LIST_LENGTH = 100;

async function readMessagePack(request: Request): Promise<unknown> {
  requireBodyType(request.headers, [JSON_TYPE, MESSAGE_PACK]);
  const bytes = await readBodyBytes(request);
  const { decode } = await import('@msgpack/msgpack');
  return decodeBody('MessagePack', () => decode(bytes, { maxArrayLength: MAX_LIST_LENGTH }));
}

function decodeBody<Result>(format: string, decode: () => Result): Result {
  try {
    return decode();
  } catch {
    throw invalidBody(`The body is not valid ${format}`);
  }
}

function invalidBody(message: string): ServiceError {
  return invalidRequest([{ field: 'body', message }]);
}

// Enough for the longest text and instruction if every character is escaped.
const BODY_MAX_BYTES = 256 * 1024;

async function readBodyBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get('Content-Length') ?? 0) > BODY_MAX_BYTES) throw tooLarge();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of request.body ?? []) {
      size += part.byteLength;
      if (size > BODY_MAX_BYTES) throw tooLarge();
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : invalidBody('The body is incomplete');
  }
  return Buffer.concat(parts);
}

function tooLarge(): ServiceError {
  // Without `Connection: close`: the rest of the body is read and dropped, so that no client is reset before it reads this.
  const message = `The body is larger than ${BODY_MAX_BYTES} bytes`;
  return new ServiceError('ERR_PAYLOAD_TOO_LARGE', message);
}
