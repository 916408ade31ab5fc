import type { Endpoint } from '../../contract/endpoint.ts';
import { DEFINITIONS, TAGS } from '../../contract/endpoints.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../../contract/limits.ts';
import { REALTIME_FORMATS } from '../../contract/realtime/protocols.ts';
import { ErrorBody, OpenAiErrorBody, isOpenAiPath } from '../../contract/error-body.ts';
import { MEDIA_FILE_TYPES } from '../../contract/lip-sync.ts';
import { SPEECH_FORMATS } from '../../contract/speech.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import { SERVICE_ERRORS } from '../../contract/service-errors.ts';
import type { SpeechSurface } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { UNSPOKEN_PATTERN } from '../../contract/unspoken.ts';
import { AUDIO_FORMATS, PREVIEW_FORMAT, HEADERS } from '../../contract/values.ts';
import { speechMediaType } from '../speech/encode.ts';
import { withExplicitTypes } from './explicit-types.ts';

type SchemaNode = Readonly<Record<string, unknown>>;

const ANY_ENDPOINT_ERRORS: readonly ServiceErrorCode[] = [
  'ERR_ORIGIN_NOT_ALLOWED',
  'ERR_HOST_NOT_ALLOWED',
  'ERR_INTERNAL',
  'ERR_STORAGE_FULL',
  'ERR_SERVICE_UNAVAILABLE',
];

/** Returns the OpenAPI 3.1 document of all endpoints (docs/api/speech.md#v3). */
export function openApiDocument(): unknown {
  return withExplicitTypes({
    openapi: '3.1.0',
    info: {
      title: 'foley embedded service',
      version: '3.0.0',
      description: 'A complete offline implementation of the audio generation service.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The URL this document was served from' }],
    tags: Object.entries(TAGS).map(([name, { description }]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths: paths(),
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
      schemas: componentSchemas(),
    },
  });
}

function paths(): SchemaNode {
  const byPath = new Map<string, SchemaNode>();
  for (const endpoint of DEFINITIONS) {
    const { method, path } = endpoint;
    const operation = { [method.toLowerCase()]: describeOperation(endpoint) };
    byPath.set(path, { ...byPath.get(path), ...operation });
  }
  return Object.fromEntries(byPath);
}

function tagOf({ id }: Endpoint): string {
  const found = Object.entries(TAGS).find(([, tag]) => tag.endpoints.some((one) => one.id === id));
  if (found === undefined) throw new TypeError(`No tag for the endpoint ${id}`);
  return found[0];
}

function describeOperation(endpoint: Endpoint): SchemaNode {
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    tags: [tagOf(endpoint)],
    ...(endpoint.public === true ? { security: [] } : {}),
    parameters: parametersOf(endpoint),
    ...requestBody(endpoint),
    responses: {
      [statusOf(endpoint)]: successResponse(endpoint),
      ...(isStored(endpoint) ? partialResponses(endpoint) : {}),
      ...failures(endpoint),
    },
  };
}

function requestBody(endpoint: Endpoint): SchemaNode {
  const { body, bodyType = 'application/json', isBodyOptional = false, otherBodyType } = endpoint;
  if (body === undefined) return {};
  const schema = schemaOrReference(body);
  const types = [bodyType, ...(otherBodyType === undefined ? [] : [otherBodyType])];
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  return { requestBody: { required: !isBodyOptional, content } };
}

function parametersOf(endpoint: Endpoint): readonly SchemaNode[] {
  const { isKeyedByRequestId = false, isKeyRequired = false, path, query, repeat } = endpoint;
  const alsoKey = isKeyedByRequestId ? `; also an idempotency key` : '';
  const key = header(HEADERS.idempotencyKey, 'Identifies the request across retries');
  const { modelHeader } = surfaceOf(endpoint);
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: STRING,
    })),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: query?.required?.includes(name) ?? false,
      schema,
    })),
    header(HEADERS.requestId, `Trace id, echoed in the response; default random${alsoKey}`),
    ...(repeat === undefined ? [] : [{ ...key, required: isKeyRequired }]),
    ...(isStored(endpoint) ? RANGE_PARAMETERS : []),
    ...(modelHeader === undefined ? [] : [header(modelHeader, 'Label or id of the model')]),
  ];
}

const STRING = { type: 'string' };

function surfaceOf({ surface }: Endpoint): Partial<SpeechSurface> {
  return surface === undefined ? {} : SPEECH_SURFACES[surface];
}

function header(
  name: string,
  description: string,
  schema: SchemaNode = { ...STRING, minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_CHARACTERS },
): SchemaNode {
  return { name, in: 'header', required: false, description, schema };
}

function statusOf({ success: schema, isAccepted = false }: Endpoint): number {
  if (schema === 'redirect') return 302;
  if (schema === 'switching') return 101;
  return isAccepted ? 202 : 200;
}

function successResponse(endpoint: Endpoint): SchemaNode {
  const { success: schema, isAccepted = false, otherSuccess, events } = endpoint;
  const traced = { [HEADERS.requestId]: { schema: STRING } };
  switch (schema) {
    case 'redirect':
      return { description: 'See Location', headers: { ...traced, ...LOCATION_HEADER } };
    case 'switching':
      return { description: 'The connection becomes a WebSocket' };
    case 'preview':
    case 'stored-file':
    case 'realtime-audio': {
      const headers = { ...traced, ...STORED_HEADERS };
      return { description: 'The file', headers, content: fileContent(schema) };
    }
    case 'events': {
      const headers = { ...traced, ...PRICE_HEADERS, ...IGNORED_HEADER, ...UNSPOKEN_HEADER };
      const content = eventContent(events ?? []);
      return { description: 'The audio with word times', headers, content };
    }
    case 'audio':
    case 'stored-audio': {
      const { formats = AUDIO_FORMATS, listsIgnored = false } = surfaceOf(endpoint);
      const isMade = schema === 'audio';
      const made = { ...PRICE_HEADERS, ...(listsIgnored ? IGNORED_HEADER : {}) };
      const types = isMade ? formats : SPEECH_FORMATS;
      const content = {
        ...Object.fromEntries(types.map((format) => [speechMediaType(format), BINARY])),
        ...(otherSuccess === undefined ? {} : jsonContent(otherSuccess)),
        ...(events === undefined ? {} : eventContent(events)),
      };
      // The audio of one segment has no positions in the whole text.
      const unspoken = endpoint.id === 'getJobSegment' ? {} : UNSPOKEN_HEADER;
      const headers = { ...traced, ...(isMade ? made : STORED_HEADERS), ...unspoken };
      return { description: 'The audio', headers, content };
    }
    case undefined:
    default: {
      const accepted = { ...LOCATION_HEADER, ...RETRY_AFTER_HEADER, ...PRICE_HEADERS };
      const headers = { ...traced, ...(isAccepted ? accepted : {}) };
      const content = jsonContent(schema ?? { type: 'object' });
      return { description: 'Success', headers, content };
    }
  }
}

// Ranges and ETags are supported for stored files.
function isStored({ success }: Endpoint): boolean {
  const kinds: readonly unknown[] = ['preview', 'realtime-audio', 'stored-audio', 'stored-file'];
  return kinds.includes(success);
}

// 206, 304 and 416 (RFC 9110, sections 13 and 14).
function partialResponses(endpoint: Endpoint): SchemaNode {
  const { content, headers } = Object(successResponse(endpoint));
  const range = { 'Content-Range': { schema: STRING } };
  return {
    206: {
      description: 'The requested byte range of the file',
      headers: { ...headers, ...range },
      content,
    },
    304: { description: 'The client already has the current file (If-None-Match)', headers },
  };
}

function fileContent(kind: 'preview' | 'stored-file' | 'realtime-audio'): SchemaNode {
  const types = {
    preview: [speechMediaType(PREVIEW_FORMAT)],
    'stored-file': MEDIA_FILE_TYPES,
    'realtime-audio': REALTIME_FORMATS.map((format) => speechMediaType(format)),
  };
  return Object.fromEntries(types[kind].map((type) => [type, BINARY]));
}

// OpenAPI 3.1 needs no schema for binary content, but generated clients drop content without one.
const BINARY = { schema: { type: 'string', format: 'binary' } };
const STORED_HEADERS = {
  'Accept-Ranges': { schema: { const: 'bytes' } },
  ETag: { description: 'Entity tag; changes whenever the file changes', schema: STRING },
};
const RANGE_PARAMETERS = [
  header('Range', 'Byte range, such as bytes=0-1023; several ranges return the whole file', STRING),
  header('If-Range', 'ETag; if the file has another one, Range is ignored', STRING),
  header('If-None-Match', 'ETags; if the file has one of them, the response is 304', STRING),
];
const LOCATION_HEADER = { Location: { schema: STRING } };
const RETRY_AFTER_HEADER = {
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } },
};
const PRICE_HEADERS = {
  [HEADERS.quotaRemaining]: { schema: { type: 'integer' } },
  [HEADERS.creditsUsed]: { schema: { type: 'number' } },
};
const IGNORED_HEADER = {
  [HEADERS.ignoredParameters]: {
    description: 'Controls that were not applied, separated by commas',
    schema: STRING,
  },
};

const UNSPOKEN_HEADER = {
  [HEADERS.unspoken]: {
    description:
      'Positions of the letters and digits that the voice does not speak, in code points, such as 6-8,20-22. The end of a range is not included. Extension of this service.',
    schema: { type: 'string', pattern: UNSPOKEN_PATTERN },
  },
};

function failures(endpoint: Endpoint): SchemaNode {
  const all = [
    ...(endpoint.errors ?? []),
    ...(isStored(endpoint) ? (['ERR_RANGE_NOT_SATISFIABLE'] as const) : []),
    ...(endpoint.public === true ? [] : (['ERR_UNAUTHORIZED', 'ERR_RATE_LIMITED'] as const)),
    ...ANY_ENDPOINT_ERRORS,
  ];
  const statuses = [...new Set(all.map((code) => SERVICE_ERRORS[code]))];
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = all.filter((code) => SERVICE_ERRORS[code] === status);
      const headers = status === SERVICE_ERRORS.ERR_RATE_LIMITED ? RETRY_AFTER_HEADER : {};
      const description = codes.join(', ');
      const body = isOpenAiPath(endpoint.path) ? OpenAiErrorBody : ErrorBody;
      return [status, { description, headers, content: jsonContent(body) }];
    }),
  );
}

function jsonContent(schema: object): SchemaNode {
  return { 'application/json': { schema: schemaOrReference(schema) } };
}

/**
 * Returns the named schemas of all endpoints, for `components.schemas` of the OpenAPI document. Nested named schemas
 * are replaced by a `$ref`. Schemas are sorted by name; schemas whose names begin with `Video` are last.
 */
export function componentSchemas(): Readonly<Record<string, SchemaNode>> {
  const endpoints: readonly Endpoint[] = DEFINITIONS;
  const used = endpoints.flatMap((one) => [one.body, one.success, one.otherSuccess, one.events]);
  const found = new Map<string, SchemaNode>();
  collectNamed([ErrorBody, OpenAiErrorBody, used], found);
  const named = [...found].toSorted(([one], [other]) => compareNames(one, other));
  return Object.fromEntries(
    named.map(([name, schema]) => [name, asRecord(Object(withReferences(schema)))]),
  );
}

function compareNames(one: string, other: string): number {
  const last = Number(one.startsWith('Video')) - Number(other.startsWith('Video'));
  return last || (one < other ? -1 : 1);
}

function collectNamed(value: unknown, found: Map<string, SchemaNode>): void {
  if (typeof value !== 'object' || value === null) return;
  const { $id, ...rest } = asRecord(value);
  if (typeof $id === 'string') found.set($id, rest);
  for (const part of Object.values(rest)) collectNamed(part, found);
}

// The schema is binary, because generated clients parse any other schema as one JSON document. `contentSchema` describes
// one event, with its data as a string.
function eventContent(events: NonNullable<Endpoint['events']>): SchemaNode {
  const contentSchema = isUnnamed(events)
    ? {
        type: 'object',
        required: ['data'],
        properties: { data: jsonText({ oneOf: events.map((data) => schemaOrReference(data)) }) },
      }
    : {
        oneOf: Object.entries(events).map(([name, data]) => ({
          type: 'object',
          required: ['event', 'data'],
          properties: { event: { const: name }, data: jsonText(schemaOrReference(data)) },
        })),
      };
  const last = isUnnamed(events) ? '' : ' The last event is named completed or error.';
  const description = `Server-sent events, whose data is JSON in one line.${last} contentSchema describes one event.`;
  return { 'text/event-stream': { schema: { ...BINARY.schema, description, contentSchema } } };
}

function isUnnamed(
  events: NonNullable<Endpoint['events']>,
): events is Extract<typeof events, readonly unknown[]> {
  return Array.isArray(events);
}

function jsonText(contentSchema: SchemaNode): SchemaNode {
  return { type: 'string', contentMediaType: 'application/json', contentSchema };
}

// A schema without a name is returned unchanged.
function schemaOrReference(schema: object): SchemaNode {
  const { $id } = asRecord(schema);
  return typeof $id === 'string' ? { $ref: `#/components/schemas/${$id}` } : asRecord(schema);
}

function withReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item));
  if (typeof value !== 'object' || value === null) return value;
  const record = asRecord(value);
  if (typeof record['$id'] === 'string') return schemaOrReference(value);
  return Object.fromEntries(
    Object.entries(record).map(([name, part]) => [name, withReferences(part)]),
  );
}

function asRecord(value: object): SchemaNode {
  return Object.fromEntries(Object.entries(value));
}
