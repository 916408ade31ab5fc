import { AUDIO_FORMATS, PREVIEW_FORMAT } from '../../contract/audio-formats.ts';
import type { Endpoint, EndpointId } from '../../contract/endpoints.ts';
import { ENDPOINTS } from '../../contract/endpoints.ts';
import { HEADERS } from '../../contract/headers.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../../contract/limits.ts';
import { ErrorBody } from '../../contract/schemas/error.ts';
import { REALTIME_FORMATS } from '../../contract/realtime/protocols.ts';
import { SPEECH_FORMATS } from '../../contract/schemas/speech.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import { SERVICE_ERRORS } from '../../contract/service-errors.ts';
import type { SpeechSurface } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { eventStreamContent } from './event-stream.ts';
import { MEDIA_FILE_TYPES } from './media-operations.ts';
import type { OperationDescription } from './operation-description.ts';
import { TAGS } from './operation-description.ts';
import { OPERATIONS } from './operations.ts';
import { speechMediaType } from '../synthesis/media-type.ts';
import { componentSchemas, schemaOrReference } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const ANY_ENDPOINT_ERRORS: readonly ServiceErrorCode[] = [
  'ERR_ORIGIN_NOT_ALLOWED',
  'ERR_HOST_NOT_ALLOWED',
  'ERR_INTERNAL',
  'ERR_SERVICE_UNAVAILABLE',
];

/** The OpenAPI 3.1 document of the service: exactly the endpoints that it has (spec section 4.1). */
export function openApiDocument(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'foley embedded service',
      version: '3.0.0',
      description: 'A complete offline implementation of the audio generation service.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The address that gave this document' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths: paths(),
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
      schemas: componentSchemas(),
    },
  };
}

function paths(): Json {
  const byPath: Record<string, Record<string, Json>> = {};
  for (const endpoint of ENDPOINTS) {
    const operation = describeOperation(endpoint);
    byPath[endpoint.path] = {
      ...byPath[endpoint.path],
      [endpoint.method.toLowerCase()]: operation,
    };
  }
  return byPath;
}

function describeOperation(endpoint: Endpoint & { readonly id: EndpointId }): Json {
  const operation = OPERATIONS[endpoint.id];
  const parameters = [
    ...pathParameters(endpoint.path),
    ...queryParameters(operation),
    ...headerParameters(operation),
  ];
  return {
    operationId: endpoint.id,
    summary: operation.summary,
    tags: [operation.tag],
    ...(endpoint.public ? { security: [] } : {}),
    parameters,
    ...requestBody(operation),
    responses: { [statusOf(operation)]: success(operation), ...failures(endpoint, operation) },
  };
}

function requestBody(operation: OperationDescription): Json {
  const { body, bodyType = 'application/json', isBodyOptional = false, otherBodyType } = operation;
  if (body === undefined) return {};
  const schema = schemaOrReference(body);
  const types = [bodyType, ...(otherBodyType === undefined ? [] : [otherBodyType])];
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  return { requestBody: { required: !isBodyOptional, content } };
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: OperationDescription): readonly Json[] {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query?.required?.includes(name) ?? false,
    schema,
  }));
}

function headerParameters({
  isIdempotent = false,
  isKeyRequired = false,
  surface,
}: OperationDescription): readonly Json[] {
  const trace = header(HEADERS.requestId, 'Trace id, echoed; made when it is missing');
  const named = header(HEADERS.idempotencyKey, 'Names the request, so that it is charged once');
  const key = { ...named, required: isKeyRequired };
  const { modelHeader } = surfaceOf(surface);
  return [
    trace,
    ...(isIdempotent ? [key] : []),
    ...(modelHeader === undefined ? [] : [header(modelHeader, 'Label or id of the model')]),
  ];
}

function surfaceOf(name: OperationDescription['surface']): Partial<SpeechSurface> {
  return name === undefined ? {} : SPEECH_SURFACES[name];
}

function header(name: string, description: string): Json {
  const schema = { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_CHARACTERS };
  return { name, in: 'header', required: false, description, schema };
}

function statusOf({ success: schema, isAccepted = false }: OperationDescription): number {
  if (schema === 'redirect') return 302;
  if (schema === 'switching') return 101;
  return isAccepted ? 202 : 200;
}

function success(operation: OperationDescription): Json {
  const { success: schema, surface, isAccepted = false, otherSuccess } = operation;
  const traced = { [HEADERS.requestId]: { schema: { type: 'string' } } };
  if (schema === 'redirect') {
    return { description: 'Where it is', headers: { ...traced, ...LOCATION_HEADER } };
  }
  if (schema === 'switching') return { description: 'The connection is a WebSocket now' };
  if (schema === 'preview' || schema === 'stored-file' || schema === 'realtime-audio') {
    return { description: 'The file', headers: traced, content: fileContent(schema) };
  }
  if (schema === 'events') {
    const headers = { ...traced, ...PRICE_HEADERS, ...IGNORED_HEADER };
    return { description: 'The audio with its words', headers, content: eventStreamContent() };
  }
  if (schema === 'audio' || schema === 'stored-audio') {
    const { formats = AUDIO_FORMATS, tellsIgnored = false } = surfaceOf(surface);
    const paid = { ...PRICE_HEADERS, ...(tellsIgnored ? IGNORED_HEADER : {}) };
    const headers = { ...traced, ...(schema === 'audio' ? paid : {}) };
    const stored = schema === 'audio' ? formats : SPEECH_FORMATS;
    const content = {
      ...Object.fromEntries(stored.map((format) => [speechMediaType(format), {}])),
      ...(otherSuccess === undefined ? {} : jsonContent(otherSuccess)),
    };
    return { description: 'The audio', headers, content };
  }
  const content =
    schema === undefined
      ? { 'application/json': { schema: { type: 'object' } } }
      : jsonContent(schema);
  const accepted = isAccepted
    ? { ...LOCATION_HEADER, ...RETRY_AFTER_HEADER, ...PRICE_HEADERS }
    : {};
  return { description: 'Success', headers: { ...traced, ...accepted }, content };
}

/** What is sent as it is, by the types that it may have. */
function fileContent(kind: 'preview' | 'stored-file' | 'realtime-audio'): Json {
  const types = {
    preview: [speechMediaType(PREVIEW_FORMAT)],
    'stored-file': MEDIA_FILE_TYPES,
    'realtime-audio': REALTIME_FORMATS.map((format) => speechMediaType(format)),
  };
  return Object.fromEntries(types[kind].map((type) => [type, {}]));
}

const LOCATION_HEADER = { Location: { schema: { type: 'string' } } };
const RETRY_AFTER_HEADER = {
  'Retry-After': { description: 'Seconds after which to ask', schema: { type: 'integer' } },
};
const PRICE_HEADERS = {
  [HEADERS.quotaRemaining]: { schema: { type: 'integer' } },
  [HEADERS.creditsUsed]: { schema: { type: 'number' } },
};
const IGNORED_HEADER = {
  [HEADERS.ignoredParameters]: {
    description: 'Controls that were not applied, separated by commas',
    schema: { type: 'string' },
  },
};

function failures(endpoint: Endpoint, { errors }: OperationDescription): Json {
  const all = [
    ...errors,
    ...(endpoint.public ? [] : (['ERR_UNAUTHORIZED', 'ERR_RATE_LIMITED'] as const)),
    ...ANY_ENDPOINT_ERRORS,
  ];
  const statuses = [...new Set(all.map((code) => SERVICE_ERRORS[code]))];
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = all.filter((code) => SERVICE_ERRORS[code] === status);
      const headers = status === SERVICE_ERRORS.ERR_RATE_LIMITED ? RETRY_AFTER_HEADER : {};
      const description = codes.join(', ');
      return [status, { description, headers, content: jsonContent(ErrorBody) }];
    }),
  );
}

function jsonContent(schema: object): Json {
  return { 'application/json': { schema: schemaOrReference(schema) } };
}
