import type { EndpointId } from '../../contract/endpoints.ts';
import type { REALTIME_ENDPOINTS } from '../../contract/realtime/endpoints.ts';
import {
  BrowserTicket,
  BrowserTicketRequest,
  BrowserTicketV2,
  RealtimeCapabilities,
  RealtimeCapabilitiesV2,
  RealtimeRequest,
  RealtimeRequestV2,
} from '../../contract/realtime.ts';
import type { OperationDescription } from './operation-description.ts';
import { BODY_ERRORS } from './operation-description.ts';

type RealtimeId = Extract<EndpointId, (typeof REALTIME_ENDPOINTS)[number]['id']>;

const open: OperationDescription = {
  summary:
    'The WebSocket of realtime speech; its subprotocol is needed, and a page may bring a ticket',
  tag: 'Realtime',
  success: 'switching',
  errors: ['ERR_INVALID_REQUEST', 'ERR_UPGRADE_REQUIRED'],
};

/** What is asked before, beside and after a realtime connection (docs/api/realtime.md). */
export const REALTIME_OPERATIONS: Readonly<Record<RealtimeId, OperationDescription>> = {
  openRealtimeV1: {
    summary: 'Version 1 of realtime speech, which is not described',
    tag: 'Realtime',
    success: 'switching',
    errors: ['ERR_NOT_IMPLEMENTED'],
  },
  openRealtimeV2: open,
  openRealtimeV3: open,
  getRealtimeCapabilities: capabilities(RealtimeCapabilities),
  getRealtimeCapabilitiesV2: capabilities(RealtimeCapabilitiesV2),
  createBrowserTicket: ticket(BrowserTicket),
  createBrowserTicketV2: ticket(BrowserTicketV2),
  getRealtimeRequest: status(RealtimeRequest),
  getRealtimeRequestV2: status(RealtimeRequestV2),
  getRealtimeSegment: {
    summary: 'The audio of a segment that was spoken whole, for a day',
    tag: 'Realtime',
    success: 'realtime-audio',
    errors: ['ERR_NOT_FOUND', 'ERR_AUDIO_NOT_FOUND'],
  },
};

type Success = OperationDescription['success'];

function capabilities(success: Success): OperationDescription {
  const summary = 'Models, formats, controls, limits and modes of realtime speech';
  return { summary, tag: 'Realtime', success, errors: [] };
}

function ticket(success: Success): OperationDescription {
  const summary = 'A ticket with which a page may connect, once and soon';
  return { summary, tag: 'Realtime', body: BrowserTicketRequest, success, errors: BODY_ERRORS };
}

function status(success: Success): OperationDescription {
  const summary = 'What became of a realtime request';
  return { summary, tag: 'Realtime', success, errors: ['ERR_NOT_FOUND'] };
}
