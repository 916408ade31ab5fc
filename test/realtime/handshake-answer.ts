import type { IncomingMessage } from 'node:http';
import { SUBPROTOCOLS } from './messages.ts';
import type { Version } from './messages.ts';
import type { HttpAnswer } from './script.ts';

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
