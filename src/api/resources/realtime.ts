import { renameFields, v3FieldName } from '../../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import type { JsonAnswer, UnknownRecord } from '../response.ts';
import { isRecord } from '../response.ts';
import type { AudioAnswer } from '../audio-response.ts';
import { audioAnswer } from '../audio-response.ts';
import type { ApiClient } from '../client.ts';
import { endpoint, jsonBody } from '../request.ts';
import type { RequestSpec } from '../request.ts';

/** Models, formats, controls, limits and modes of realtime speech (docs/api/realtime.md), with the names of v3. */
export function getRealtimeCapabilities(
  client: ApiClient,
  protocol: RealtimeProtocol,
  signal?: AbortSignal,
): Promise<JsonAnswer<UnknownRecord>> {
  const id = protocol === 'v3' ? 'getRealtimeCapabilities' : 'getRealtimeCapabilitiesV2';
  return client.json(onRealtimeHost(endpoint(id), signal), asV3);
}

/** A ticket with which a page of `origin` opens one conversation. */
interface BrowserTicket {
  readonly ticket: string;
  /** Where it is shown; only v3 tells. */
  readonly url: string | undefined;
}

/**
 * A single-use ticket for a browser, which cannot carry a key (docs/api/realtime.md and docs/api/authentication.md).
 * @param origin of the page, such as `https://app.example.com`
 */
export function createBrowserTicket(
  client: ApiClient,
  protocol: RealtimeProtocol,
  origin: string,
  signal?: AbortSignal,
): Promise<JsonAnswer<BrowserTicket>> {
  const id = protocol === 'v3' ? 'createBrowserTicket' : 'createBrowserTicketV2';
  const call = onRealtimeHost(endpoint(id), signal);
  return client.json({ ...call, body: jsonBody({ origin }) }, readTicket);
}

/** What became of a reliable request (docs/api/realtime.md#request-states and docs/api/realtime.md), with the names of v3. */
export function getRealtimeRequest(
  client: ApiClient,
  protocol: RealtimeProtocol,
  requestId: string,
  signal?: AbortSignal,
): Promise<JsonAnswer<UnknownRecord>> {
  const id = protocol === 'v3' ? 'getRealtimeRequest' : 'getRealtimeRequestV2';
  return client.json(onRealtimeHost(endpoint(id, { requestId }), signal), asV3);
}

/** The stored audio of a segment (docs/api/realtime.md; v3 only). It costs nothing, and can be had again. */
export async function fetchRealtimeSegment(
  client: ApiClient,
  requestId: string,
  segmentId: string,
  signal?: AbortSignal,
): Promise<AudioAnswer> {
  const call = onRealtimeHost(endpoint('getRealtimeSegment', { requestId, segmentId }), signal);
  const answer = await client.send({ ...call, accept: 'audio/*, application/json' });
  return audioAnswer(client, answer, { isOpaqueFine: true });
}

function onRealtimeHost(
  call: ReturnType<typeof endpoint>,
  signal: AbortSignal | undefined,
): RequestSpec {
  return { ...call, host: 'realtime', billed: false, retry: 'safe', signal };
}

function asV3(body: unknown): UnknownRecord | undefined {
  // The spec does not say how v2 names fields over HTTP: both are taken.
  const named = renameFields(body, (name) => (/[A-Z]/.test(name) ? name : v3FieldName(name)));
  return isRecord(named) ? named : undefined;
}

function readTicket(body: unknown): BrowserTicket | undefined {
  const { ticket, url } = asV3(body) ?? {};
  if (typeof ticket !== 'string' || ticket === '') return undefined;
  return { ticket, url: typeof url === 'string' ? url : undefined };
}
