import type { IncomingMessage } from 'node:http';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { proxyAddress, proxyAuthorization, proxyHost } from '../api/transport/proxy.ts';
import { ProxyRefusal, TransportError } from '../api/transport/exchange.ts';
import type { Handshake } from './handshake.ts';

/**
 * A connection to a realtime host through a proxy (`CONNECT`), encrypted from end to end: nothing else is
 * ever called beyond this computer.
 * `timeoutMs` is for the proxy, and again for the host behind it.
 * @throws TransportError; Failure (usage) when the proxy's address is none; user name and password are not told
 */
export async function openTunnel(
  proxy: string,
  { certificates: ca, timeoutMs, url }: Pick<Handshake, 'certificates' | 'timeoutMs' | 'url'>,
): Promise<Duplex> {
  const socket = await askProxy(proxyAddress(proxy), url, timeoutMs);
  const name = url.hostname.replaceAll(/[[\]]/g, '');
  // An address is no name that could be asked for.
  const host = isIP(name) === 0 ? { servername: name } : { host: name };
  const secure = connect({ socket, ...host, rejectUnauthorized: true, ca });
  return new Promise((resolve, reject) => {
    secure.once('secureConnect', () => resolve(secure));
    secure.once('error', reject);
    secure.setTimeout(timeoutMs, () => secure.destroy(timedOut(url, proxyHost(proxy))));
    secure.once('secureConnect', () => secure.setTimeout(0));
  });
}

function askProxy(proxy: URL, url: URL, timeoutMs: number): Promise<Duplex> {
  const authority = `${url.hostname}:${url.port === '' ? 443 : url.port}`;
  const fault = (cause: unknown) => new TransportError('proxy', url.host, cause, proxy.host);
  const refused = ({ statusCode }: IncomingMessage) => fault(new ProxyRefusal(statusCode));
  const ask = proxy.protocol === 'https:' ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const request = ask(new URL(proxy.origin), {
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      agent: false,
      timeout: timeoutMs,
    });
    request.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      return reject(refused(answer));
    });
    request.once('response', (answer) => reject(refused(answer)));
    request.once('timeout', () => request.destroy(timedOut(url, proxy.host)));
    request.once('error', (error) => {
      reject(error instanceof TransportError ? error : fault(error));
    });
    request.end();
  });
}

function timedOut({ host }: URL, proxy: string): TransportError {
  return new TransportError('connect_timeout', host, undefined, proxy);
}
