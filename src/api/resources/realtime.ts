import { renameFields, v3FieldName } from '../../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import type { JsonResponse, UnknownRecord } from '../response.ts';
import { firstText, isRecord } from '../response.ts';
import type { AudioResponse } from './speech.ts';
import { requireAudio } from './speech.ts';
import type { ApiClient } from '../client.ts';
import { jsonBody, safeRequest } from '../request.ts';

/** Returns the capabilities of realtime speech (docs/api/realtime.md), with the field names of v3. */
export function getRealtimeCapabilities(
  client: ApiClient,
  protocol: RealtimeProtocol,
  signal?: AbortSignal,
): Promise<JsonResponse<UnknownRecord>> {
  const id = protocol === 'v3' ? 'getRealtimeCapabilities' : 'getRealtimeCapabilitiesV2';
  return client.json(safeRequest(id, {}, { host: 'realtime', signal }), asV3);
}

interface ReceivedTicket {
  /** Undefined if the response has several fields that may be the ticket. */
  readonly ticket: string | undefined;
}

/**
 * Creates a single-use ticket. A web page sends the ticket instead of an API key to open a realtime connection
 * (docs/api/realtime.md). The API does not name the fields of the response, so that any response is valid.
 * @param origin the origin of the web page, such as `https://app.example.com`
 */
export function createBrowserTicket(
  client: ApiClient,
  protocol: RealtimeProtocol,
  origin: string,
  signal?: AbortSignal,
): Promise<JsonResponse<ReceivedTicket>> {
  const id = protocol === 'v3' ? 'createBrowserTicket' : 'createBrowserTicketV2';
  const options = { host: 'realtime', body: jsonBody({ origin }), signal } as const;
  return client.json(safeRequest(id, {}, options), (body) => ({ ticket: ticketIn(body) }));
}

const TICKET_NAMES = [
  'ticket',
  'token',
  'browserTicket',
  'browserToken',
  'browser_ticket',
  'browser_token',
];

function ticketIn(body: unknown): string | undefined {
  if (!isRecord(body)) return firstText(body);
  const named = firstText(...TICKET_NAMES.map((name) => body[name]));
  return named ?? (isRecord(body['data']) ? ticketIn(body['data']) : undefined);
}

/** Returns the status of a request in `reliable` mode (docs/api/realtime.md#request-states), with v3 field names. */
export function getRealtimeRequest(
  client: ApiClient,
  protocol: RealtimeProtocol,
  requestId: string,
  signal?: AbortSignal,
): Promise<JsonResponse<UnknownRecord>> {
  const id = protocol === 'v3' ? 'getRealtimeRequest' : 'getRealtimeRequestV2';
  return client.json(safeRequest(id, { requestId }, { host: 'realtime', signal }), asV3);
}

/** Downloads the stored audio of a segment of realtime speech (docs/api/realtime.md); v3 only. Free and repeatable. */
export async function fetchRealtimeSegment(
  client: ApiClient,
  requestId: string,
  segmentId: string,
  signal?: AbortSignal,
): Promise<AudioResponse> {
  const options = { host: 'realtime', accept: 'audio/*, application/json', signal } as const;
  const request = safeRequest('getRealtimeSegment', { requestId, segmentId }, options);
  const response = await client.send(request);
  return requireAudio(client, response, { isOpaqueFine: true });
}

function asV3(body: unknown): UnknownRecord | undefined {
  // The API does not document the field names of v2 over HTTP, so the names of v2 and of v3 are accepted.
  const named = renameFields(body, (name) => (/[A-Z]/.test(name) ? name : v3FieldName(name)));
  return isRecord(named) ? named : undefined;
}
