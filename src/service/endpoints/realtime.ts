import {
  REALTIME_ID_MAX_CHARACTERS,
  SEGMENT_MAX_CHARACTERS,
  SESSION_MAX_UNITS,
  SIMPLE_INPUT_MAX_CHARACTERS,
  TEXT_EVENT_MAX_CHARACTERS,
} from '../../contract/realtime/limits.ts';
import type { RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import {
  renameFields,
  v2FieldName,
  REALTIME_FORMATS,
  REALTIME_MODES,
  REALTIME_PROTOCOLS,
} from '../../contract/realtime/protocols.ts';
import type {
  BrowserTicket,
  RealtimeCapabilities,
  RealtimeRequest,
} from '../../contract/realtime.ts';
import { BrowserTicketRequest } from '../../contract/realtime.ts';
import type { CatalogueModel } from '../voices/models.ts';
import { readJsonBody, requireValid } from '../http/request.ts';
import { realtimeControls, realtimeFormats } from '../realtime/plan-request.ts';
import type { RequestRecord } from '../realtime/requests.ts';
import { statusOf } from '../realtime/requests.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { showText, showValue } from '../http/wording.ts';
import type { AccountCall, Handler } from './call.ts';
import { storedAudioAnswer } from './stored-audio.ts';

/** `GET /vN/tts/capabilities`. */
export function getRealtimeCapabilities(protocol: RealtimeProtocol): Handler<AccountCall> {
  return ({ requestId }, { catalogue }) => {
    const body: RealtimeCapabilities = {
      protocolVersion: protocol,
      subprotocol: REALTIME_PROTOCOLS[protocol].subprotocol,
      modes: [...REALTIME_MODES],
      formats: [...REALTIME_FORMATS],
      limits: LIMITS,
      models: catalogue.models.map((model) => ({
        ...describe(model, protocol),
        available: catalogue.isAvailable(model),
      })),
      requestId,
    };
    return answer(body, protocol);
  };
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

/** `POST /vN/tts/browser-tickets` (docs/api/authentication.md): for the page of an origin, on the host that was asked. */
export function createBrowserTicket(protocol: RealtimeProtocol): Handler<AccountCall> {
  return async ({ account, request, requestId }, { realtime }) => {
    const body = requireValid(BrowserTicketRequest, await readJsonBody(request), 'The body');
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
    return answer(ticketAnswer, protocol);
  };
}

/** What a browser sends as `Origin`: scheme, host and port, nothing else. */
function requireOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin.toLowerCase()) {
    return origin.toLowerCase();
  }
  const message = `origin is ${showValue(origin)}; allowed is an origin such as https://studio.example`;
  throw invalidRequest([{ field: 'origin', message }]);
}

/** `GET /vN/tts/requests/{requestId}` (docs/api/realtime.md#request-states and docs/api/realtime.md). */
export function getRealtimeRequest(protocol: RealtimeProtocol): Handler<AccountCall> {
  return (call, context) => {
    const body: RealtimeRequest = statusOf(requireRequest(call, context), context.clock.now());
    return answer(body, protocol);
  };
}

/** `GET /v3/tts/requests/{requestId}/segments/{segmentId}/audio`. */
export const getRealtimeSegment: Handler<AccountCall> = async (call, context) => {
  const request = requireRequest(call, context);
  const { segmentId = '' } = call.parameters;
  const segment = request.segments.find((one) => one.segmentId === segmentId);
  const audio = await context.realtime.requests.audioOf(request, segmentId);
  if (segment === undefined || audio === undefined) {
    const message = `There is no audio of segment ${showText(segmentId)}`;
    const { state } = request;
    throw new ServiceError('ERR_AUDIO_NOT_FOUND', message, { details: { state } });
  }
  const name = `segment-${segment.number}`;
  const { format } = request;
  return storedAudioAnswer(audio, { request: call.request, format, name, isAttachment: false });
};

/** JSON with the names of the version. */
function answer(body: object, protocol: RealtimeProtocol): Response {
  return Response.json(protocol === 'v2' ? renameFields(body, v2FieldName) : body);
}

function requireRequest(
  { account, parameters }: AccountCall,
  { realtime }: ServiceContext,
): RequestRecord {
  const { requestId = '' } = parameters;
  const request = realtime.requests.find(account, requestId);
  if (request !== undefined) return request;
  throw new ServiceError('ERR_NOT_FOUND', `There is no request ${showText(requestId)}`);
}
