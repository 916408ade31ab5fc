import {
  REALTIME_ID_MAX_CHARACTERS,
  SEGMENT_MAX_CHARACTERS,
  SESSION_MAX_UNITS,
  SIMPLE_INPUT_MAX_CHARACTERS,
  TEXT_EVENT_MAX_CHARACTERS,
} from '../../contract/realtime/limits.ts';
import {
  renameFields,
  v2FieldName,
  REALTIME_FORMATS,
  REALTIME_MODES,
  REALTIME_PROTOCOLS,
} from '../../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import type {
  BrowserTicket,
  RealtimeCapabilities,
  RealtimeRequest,
} from '../../contract/realtime.ts';
import type { CatalogueModel } from '../voices/model-catalogue.ts';
import { realtimeControls, realtimeFormats } from '../realtime/plan-request.ts';
import { statusOf } from '../realtime/requests.ts';
import type { RequestRecord } from '../realtime/requests.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { showText, showValue } from '../http/validation.ts';
import type { CallTo } from './call.ts';
import { storedAudioResponse } from './stored-audio.ts';

/** Handles `GET /vN/tts/capabilities` of realtime speech (docs/api/realtime.md). @param protocol the version N */
export function getCapabilities(
  protocol: RealtimeProtocol,
  { requestId }: CallTo<'getRealtimeCapabilities'>,
  { catalogue }: ServiceContext,
): Response {
  const body: RealtimeCapabilities = {
    protocolVersion: protocol,
    subprotocol: REALTIME_PROTOCOLS[protocol].subprotocol,
    modes: [...REALTIME_MODES],
    formats: [...REALTIME_FORMATS],
    limits: LIMITS,
    models: catalogue.models.map((model) => ({
      ...describe(model, protocol),
      available: catalogue.isAvailable(model.id),
    })),
    requestId,
  };
  return respond(body, protocol);
}

const LIMITS = {
  simpleInputCharacters: SIMPLE_INPUT_MAX_CHARACTERS,
  textEventCharacters: TEXT_EVENT_MAX_CHARACTERS,
  segmentCharacters: SEGMENT_MAX_CHARACTERS,
  sessionUnits: SESSION_MAX_UNITS,
  requestIdCharacters: REALTIME_ID_MAX_CHARACTERS,
};

function describe(model: CatalogueModel, protocol: RealtimeProtocol) {
  return {
    id: model.id,
    formats: [...realtimeFormats(model)],
    controls: realtimeControls(model, protocol),
    segmentMaxCharacters: Math.min(model.maxTextLength, SEGMENT_MAX_CHARACTERS),
  };
}

/** Handles `POST /vN/tts/browser-tickets`: creates a ticket for one web origin (docs/api/authentication.md). */
export function createBrowserTicket(
  protocol: RealtimeProtocol,
  { account, body, request, requestId }: CallTo<'createBrowserTicket'>,
  { realtime }: ServiceContext,
): Response {
  const origin = requireOrigin(body.origin);
  const { host } = new URL(request.url);
  const { ticket, expiresAt } = realtime.tickets.issue({ account, origin, host });
  const { livePath, subprotocol } = REALTIME_PROTOCOLS[protocol];
  const ticketAnswer: BrowserTicket = {
    ticket,
    url: `ws://${host}${livePath}`,
    subprotocol,
    expiresAt: new Date(expiresAt).toISOString(),
    requestId,
  };
  return respond(ticketAnswer, protocol);
}

// An origin consists of scheme, host and optional port; it is returned in lower case.
function requireOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin.toLowerCase()) {
    return origin.toLowerCase();
  }
  const message = `origin is ${showValue(origin)}; allowed: an origin such as https://studio.example`;
  throw invalidRequest([{ field: 'origin', message }]);
}

/** Handles `GET /vN/tts/requests/{requestId}` (docs/api/realtime.md#request-states). */
export function getRequest(
  protocol: RealtimeProtocol,
  call: CallTo<'getRealtimeRequest'>,
  context: ServiceContext,
): Response {
  const body: RealtimeRequest = statusOf(requireRequest(call, context), context.clock.now());
  return respond(body, protocol);
}

/** Handles `GET /v3/tts/requests/{requestId}/segments/{segmentId}/audio` (docs/api/realtime.md). */
export async function getSegment(
  call: CallTo<'getRealtimeSegment'>,
  context: ServiceContext,
): Promise<Response> {
  const record = requireRequest(call, context);
  const { segmentId } = call.parameters;
  const segment = record.segments.find((one) => one.segmentId === segmentId);
  const audio = await context.realtime.requests.audioOf(record, segmentId);
  if (segment === undefined || audio === undefined) {
    const message = `Segment ${showText(segmentId)} has no audio`;
    const { state } = record;
    throw new ServiceError('ERR_AUDIO_NOT_FOUND', message, { details: { state } });
  }
  const { format } = record;
  return storedAudioResponse(call, audio, { format, name: `segment-${segment.number}` });
}

// JSON with the field names of the API version.
function respond(body: object, protocol: RealtimeProtocol): Response {
  return Response.json(protocol === 'v2' ? renameFields(body, v2FieldName) : body);
}

function requireRequest(
  { account, parameters: { requestId } }: CallTo<'getRealtimeRequest'>,
  { realtime }: ServiceContext,
): RequestRecord {
  const request = realtime.requests.find(account, requestId);
  if (request !== undefined) return request;
  throw new ServiceError('ERR_NOT_FOUND', `No such request: ${showText(requestId)}`);
}
