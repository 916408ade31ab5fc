import type { Static, TObject, TSchema } from 'typebox';
import { Type } from 'typebox';
import { mapOf, named, RequestId, strict } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { BODY_ERRORS } from './endpoint.ts';
import { v2FieldName, REALTIME_FORMATS, REALTIME_MODES } from './realtime/protocols.ts';
import { RequestStatus } from './realtime/server-messages.ts';

const limit = (description: string) => Type.Integer({ minimum: 1, description });
const formats = (description: string) =>
  Type.Array(Type.Enum([...REALTIME_FORMATS]), { description });
const subprotocol = Type.String({
  description: 'Subprotocol to request in the WebSocket handshake',
});

export const RealtimeModel = named('RealtimeModel', {
  id: Type.String({ description: 'Public model id' }),
  available: Type.Boolean({ description: 'Whether the model can be used' }),
  formats: formats('Audio formats that the model produces (pcm: raw samples)'),
  controls: mapOf(Type.Boolean(), 'Controls, such as speed, that the model supports'),
  segmentMaxCharacters: limit(
    'Maximum number of characters in a segment (reliable mode) or a request (simple mode)',
  ),
});

export const RealtimeCapabilities = named('RealtimeCapabilities', {
  protocolVersion: Type.String({ description: 'Version of realtime speech: v2 or v3' }),
  subprotocol,
  modes: Type.Array(Type.Enum([...REALTIME_MODES]), {
    description:
      'Supported modes: simple (one text per connection) and reliable (segments that can be resumed)',
  }),
  formats: formats('Audio formats that the service supports (pcm: raw samples)'),
  limits: Type.Object(
    {
      simpleInputCharacters: limit('Maximum number of characters in a request in simple mode'),
      textEventCharacters: limit('Maximum number of characters in a `text` message'),
      segmentCharacters: limit('Maximum number of characters in a segment of the text'),
      sessionUnits: limit('Maximum number of billed units in a request'),
      requestIdCharacters: limit('Maximum length of a request id or segment id, in characters'),
    },
    { description: 'Realtime request limits for every model' },
  ),
  models: Type.Array(RealtimeModel, {
    description: 'All models, including unavailable ones',
  }),
  requestId: RequestId,
});
export type RealtimeCapabilities = Static<typeof RealtimeCapabilities>;

const ORIGIN_MAX_CHARACTERS = 2_048;

export const BrowserTicketRequest = strict('BrowserTicketRequest', {
  origin: Type.String({
    minLength: 1,
    maxLength: ORIGIN_MAX_CHARACTERS,
    format: 'uri',
    description: 'Origin of the web page, such as https://studio.example',
  }),
});

export const BrowserTicket = named('BrowserTicket', {
  ticket: Type.String({ description: 'Token to send in the first WebSocket message (works once)' }),
  url: Type.String({ description: 'Address of the WebSocket' }),
  subprotocol,
  expiresAt: Type.String({
    format: 'date-time',
    description: 'Time when the ticket expires (ISO 8601)',
  }),
  requestId: RequestId,
});
export type BrowserTicket = Static<typeof BrowserTicket>;

const { state, retryable, units, resultAvailable, segments } = RequestStatus.properties;

export const RealtimeRequest = named('RealtimeRequest', {
  requestId: Type.String({ description: 'Id of the realtime request' }),
  state,
  retryable,
  units,
  resultAvailable,
  segments,
});
export type RealtimeRequest = Static<typeof RealtimeRequest>;

export const RealtimeCapabilitiesV2 = inV2(RealtimeCapabilities, 'RealtimeCapabilitiesV2');
export const BrowserTicketV2 = inV2(BrowserTicket, 'BrowserTicketV2');
export const RealtimeRequestV2 = inV2(RealtimeRequest, 'RealtimeRequestV2');

function inV2(schema: TObject, $id?: string): TObject {
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([name, part]) => [v2FieldName(name), partInV2(part)]),
  );
  return Type.Object(properties, { ...describe(schema), ...($id === undefined ? {} : { $id }) });
}

function partInV2(schema: TSchema): TSchema {
  if (Type.IsObject(schema)) return inV2(schema);
  if (!Type.IsArray(schema)) return schema;
  const items = Type.Array(partInV2(schema.items), describe(schema));
  return Type.IsOptional(schema) ? Type.Optional(items) : items;
}

function describe(schema: TSchema): { description?: string } {
  const { description } = Object(schema);
  return description === undefined ? {} : { description };
}

const OPEN = {
  method: 'GET',
  section: 'realtime',
  summary: 'Open a WebSocket for realtime speech',
  success: 'switching',
  errors: ['ERR_INVALID_REQUEST', 'ERR_UPGRADE_REQUIRED'],
} as const;

const GET_CAPABILITIES = {
  method: 'GET',
  section: 'realtime',
  summary: 'Get the models, formats, limits and modes of realtime speech',
} as const;

const CREATE_TICKET = {
  method: 'POST',
  section: 'realtime',
  summary: 'Create a ticket that lets a web page open one WebSocket',
  body: BrowserTicketRequest,
  errors: BODY_ERRORS,
} as const;

const GET_REQUEST = {
  method: 'GET',
  section: 'realtime',
  summary: 'Get the state of a realtime request',
  errors: ['ERR_NOT_FOUND'],
} as const;

/**
 * HTTP endpoints of realtime speech, including those that open a WebSocket. foley chose the field names that the API
 * does not document.
 */
export const REALTIME_ENDPOINTS = [
  {
    id: 'openRealtimeV1',
    method: 'GET',
    path: '/v1/tts/live',
    public: true,
    section: 'versions',
    summary: 'Return error 501: the embedded service does not support realtime v1',
    success: 'switching',
    errors: ['ERR_NOT_IMPLEMENTED'],
  },
  { ...OPEN, id: 'openRealtimeV2', path: '/v2/tts/live' },
  { ...OPEN, id: 'openRealtimeV3', path: '/v3/tts/live' },
  {
    ...GET_CAPABILITIES,
    id: 'getRealtimeCapabilitiesV2',
    path: '/v2/tts/capabilities',
    success: RealtimeCapabilitiesV2,
  },
  {
    ...GET_CAPABILITIES,
    id: 'getRealtimeCapabilities',
    path: '/v3/tts/capabilities',
    success: RealtimeCapabilities,
  },
  {
    ...CREATE_TICKET,
    id: 'createBrowserTicketV2',
    path: '/v2/tts/browser-tickets',
    success: BrowserTicketV2,
  },
  {
    ...CREATE_TICKET,
    id: 'createBrowserTicket',
    path: '/v3/tts/browser-tickets',
    success: BrowserTicket,
  },
  {
    ...GET_REQUEST,
    id: 'getRealtimeRequestV2',
    path: '/v2/tts/requests/{requestId}',
    success: RealtimeRequestV2,
  },
  {
    ...GET_REQUEST,
    id: 'getRealtimeRequest',
    path: '/v3/tts/requests/{requestId}',
    success: RealtimeRequest,
  },
  {
    id: 'getRealtimeSegment',
    method: 'GET',
    path: '/v3/tts/requests/{requestId}/segments/{segmentId}/audio',
    section: 'realtime',
    summary: 'Download the audio of a completed segment (stored for a day)',
    success: 'realtime-audio',
    errors: ['ERR_NOT_FOUND', 'ERR_AUDIO_NOT_FOUND'],
  },
] as const satisfies readonly Endpoint[];
