import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as send } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { listen } from '../harness/listen.ts';
import { refusalOf } from './strict-request.ts';
import { isJson, sparseAnswer, sparseEvent, sparseHeaders } from './sparse-answer.ts';
import type { SparseAnswer } from './sparse-answer.ts';

/**
 * Starts a service that does what another one does, and answers with nothing but the fields that the API names. It
 * refuses requests that the API does not describe.
 * @returns its address; it stops when the test ends
 */
export async function startSparseProxy(target: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    forward({ hostname, port }, request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const other = connect(Number(port), hostname);
    other.on('error', () => socket.destroy());
    socket.on('error', () => other.destroy());
    other.write(headOf(request));
    other.write(head);
    socket.pipe(other).pipe(socket);
  });
  return listen(server);
}

/** Returns the head of a request as it was written. */
export function headOf({ method, rawHeaders, url }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : [],
  );
  return [`${method} ${url} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

async function forward(
  place: { readonly hostname: string; readonly port: string },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers, method = 'GET', url = '/' } = request;
  const { pathname: path, searchParams: query } = new URL(url, 'http://localhost');
  const asked = { method, path };
  const isForm = String(headers['content-type']).startsWith('multipart/');
  const body = isForm ? undefined : await buffer(request);
  const reason = refusalOf({ ...asked, query, headers, body });
  if (reason !== undefined) return refuse(response, reason);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const other = send({ ...place, method, path: url, headers, agent: false }, resolve);
    other.on('error', reject);
    response.on('close', () => other.destroy());
    if (body === undefined) request.pipe(other);
    else other.end(body);
  });
  const known = { status: answer.statusCode ?? 502, headers: plain(answer.headers) };
  if (isJson(known))
    return respond(response, sparseAnswer(asked, { ...known, body: await buffer(answer) }));
  const isStream = String(known.headers['content-type']).startsWith('text/event-stream');
  const { 'content-length': length, ...sent } = sparseHeaders(asked, known);
  const sized = length === undefined || isStream ? sent : { ...sent, 'content-length': length };
  response.writeHead(known.status, sized);
  // A fault of the service stays one: what was cut is cut here, too.
  answer.on('error', () => response.destroy());
  if (!isStream) {
    answer.pipe(response);
    return;
  }
  let left = '';
  for await (const chunk of answer) {
    const events = (left + String(chunk)).split('\n\n');
    left = events.pop() ?? '';
    for (const event of events) response.write(`${sparseEvent(event)}\n\n`);
  }
  response.end(left);
}

function refuse(response: ServerResponse, message: string): void {
  const error = { code: 'ERR_INVALID_REQUEST', message, requestId: 'r-refused' };
  const body = Buffer.from(JSON.stringify(error));
  respond(response, { status: 400, headers: { 'content-type': 'application/json' }, body });
}

function respond(response: ServerResponse, { body, headers, status }: SparseAnswer): void {
  response.writeHead(status, { ...headers }).end(body);
}

function plain(headers: IncomingMessage['headers']): SparseAnswer['headers'] {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}
