import { LIMITS, MODES, SUBPROTOCOLS } from './messages.ts';
import type { Version } from './messages.ts';
import { segmentAudio, statusOf } from './request-book.ts';
import type { RequestBook, SpokenRequest } from './request-book.ts';
import type { HttpAnswer } from './script.ts';
import { isFields, toWire } from './wire-names.ts';
import type { IncomingMessage } from 'node:http';

/** An HTTP request to a scripted server. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface HttpContext {
  readonly key: string;
  readonly book: RequestBook;
  readonly tickets: Tickets;
  readonly realtimeUrl: string;
}

/** A response whose body may be audio. */
export interface FullAnswer extends HttpAnswer {
  readonly bytes?: Buffer;
}

const ROUTE = /^\/(?<version>v[23])\/tts\/(?<rest>.+)$/;
const STATUS = /^requests\/(?<requestId>[^/]+)$/;
const AUDIO = /^requests\/(?<requestId>[^/]+)\/segments\/(?<segmentId>[^/]+)\/audio$/;
const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  pcm: 'audio/pcm',
};

/** Responds to the HTTP paths of section 4.10, for both versions. */
export function answerHttp(request: HttpRequest, context: HttpContext): FullAnswer {
  const route = ROUTE.exec(request.path)?.groups;
  if (route === undefined) {
    return { status: 404 };
  }
  if (request.authorization !== `Bearer ${context.key}`) {
    return { status: 401 };
  }
  const version = route['version'] === 'v2' ? 'v2' : 'v3';
  return answerRoute(request, version, route['rest'] ?? '', context);
}

/** Returns the flat error of section 7 for a response without a body. */
export function errorBody(status: number): string {
  const code = status === 400 ? 'ERR_INVALID_REQUEST' : `scripted_${status}`;
  return JSON.stringify({ code, message: `The script answers ${status}.`, requestId: 'scripted' });
}

function answerRoute(
  request: HttpRequest,
  version: Version,
  rest: string,
  context: HttpContext,
): FullAnswer {
  const { method } = request;
  if (method === 'GET' && rest === 'capabilities') {
    return { status: 200, json: toWire(version, capabilities()) };
  }
  if (method === 'POST' && rest === 'browser-tickets') {
    return answerTicket(request, version, context);
  }
  const status = STATUS.exec(rest)?.groups?.['requestId'];
  if (method === 'GET' && status !== undefined) {
    const found = context.book.requests.get(decodeURIComponent(status));
    return found === undefined
      ? { status: 404 }
      : { status: 200, json: toWire(version, statusOf(found)) };
  }
  const audio = AUDIO.exec(rest)?.groups;
  return method === 'GET' && version === 'v3' && audio !== undefined
    ? answerAudio(audio['requestId'] ?? '', audio['segmentId'] ?? '', context)
    : { status: 404 };
}

function answerTicket(
  { body }: HttpRequest,
  version: Version,
  { tickets, realtimeUrl }: HttpContext,
): FullAnswer {
  const { origin } = parsed(body);
  if (typeof origin !== 'string' || !URL.canParse(origin)) {
    return { status: 400 };
  }
  const ticket = tickets.issue(origin);
  const url = `${realtimeUrl}/v3/tts/live`;
  const subprotocol = SUBPROTOCOLS.v3;
  return { status: 200, json: version === 'v3' ? { ticket, url, subprotocol } : { ticket } };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}

/** Fetching stored audio delivers it, and charges it unless it was charged before. */
function answerAudio(requestId: string, segmentId: string, { book }: HttpContext): FullAnswer {
  const request = book.requests.get(decodeURIComponent(requestId));
  const id = decodeURIComponent(segmentId);
  const segment = request?.segments.find((one) => one.segmentId === id);
  if (request === undefined || segment?.state !== 'completed') {
    return { status: 404 };
  }
  book.charge(request, segment);
  const type = contentType(request);
  return { status: 200, headers: { 'Content-Type': type }, bytes: segmentAudio(segment) };
}

function contentType({ format }: SpokenRequest): string {
  return TYPES[format] ?? 'application/octet-stream';
}

function capabilities(): Readonly<Record<string, unknown>> {
  const formats = ['mp3', 'wav', 'opus', 'pcm'];
  const controls = { speed: true, volume: true, stability: true, similarity: true };
  const model = { id: 'vendor-s21pro-flash', available: true, formats, controls, modes: MODES };
  return { models: [model], formats, modes: MODES, limits: LIMITS };
}

/** The browser tickets of a server: each opens one connection from its origin. */
export class Tickets {
  readonly #origins = new Map<string, string>();
  #made = 0;

  issue(origin: string): string {
    this.#made += 1;
    const ticket = `ticket-${this.#made}`;
    this.#origins.set(ticket, origin);
    return ticket;
  }

  /** Uses a ticket; false if it is unknown, used, or of another origin. */
  redeem(ticket: string, origin: string | undefined): boolean {
    const of = this.#origins.get(ticket);
    this.#origins.delete(ticket);
    return of !== undefined && of === origin;
  }
}

/**
 * Returns the HTTP response to a handshake that the spec refuses (sections 4.10 and 5), else the requested version. A
 * handshake without Authorization is accepted, and needs a ticket later.
 */
export function answerHandshake(
  request: IncomingMessage,
  key: string,
): { readonly version: Version } | HttpAnswer {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const version = /^\/(v[123])\/tts\/live$/.exec(url.pathname)?.[1];
  if (version === 'v1') {
    return { status: 501 };
  }
  if (version !== 'v2' && version !== 'v3') {
    return { status: 404 };
  }
  const { authorization } = request.headers;
  if (authorization !== undefined && authorization !== `Bearer ${key}`) {
    return { status: 401 };
  }
  const hasCredentials = url.searchParams.has('token') || url.searchParams.has('api_key');
  return hasCredentials || !offered(request).includes(SUBPROTOCOLS[version])
    ? { status: 400 }
    : { version };
}

function offered({ headers }: IncomingMessage): string[] {
  const asked = headers['sec-websocket-protocol'] ?? '';
  return asked.split(',').map((name) => name.trim());
}
