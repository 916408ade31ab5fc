import { Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import { CONNECT_TIMEOUT_MS, ProxyRefusal, TransportError } from './transport-error.ts';
import { proxyAddress, proxyAuthorization } from './proxy.ts';

// Set explicitly, so that `NODE_OPTIONS` cannot change it. The build also leaves out the module with undici's default.
export const MOST_HEADER_BYTES = 16 * 1024;

export interface Connector {
  /**
   * Opens a connection, and resolves when the connection is ready for a request.
   * @throws TransportError if the proxy fails, else the error of the system or of TLS
   */
  open(): Promise<Socket>;
  /** Cancels all connections that are still being opened. */
  close(): void;
}

/**
 * Creates a connector to the host of `url`.
 * @param proxy URL of a proxy, which reaches the host through a tunnel (`CONNECT`, RFC 9110); undefined: no proxy
 * @param certificates certificates (PEM) to trust instead of the built-in ones
 * @throws Failure of kind `usage` for an invalid proxy URL
 */
export function createConnector(
  url: URL,
  proxy: string | undefined,
  certificates: string | undefined,
): Connector {
  const address = proxy === undefined ? undefined : proxyAddress(proxy);
  const opening = new Set<Socket>();
  const connectSocket = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    // Set explicitly, because an environment variable could turn verification off.
    rejectUnauthorized: true,
    ...(certificates === undefined ? {} : { ca: certificates }),
  });
  const connect: buildConnector.connector = (target, done) => {
    // undici returns the socket, although its types do not say so.
    const socket: unknown = connectSocket(target, (...outcome) => {
      if (socket instanceof Socket) opening.delete(socket);
      done(...outcome);
    });
    if (socket instanceof Socket) opening.add(socket);
  };
  const { host, port, protocol } = url;
  const hostname = url.hostname.replaceAll(/[[\]]/g, '');
  return {
    async open() {
      const tunnel =
        address === undefined ? {} : { httpSocket: await openTunnel(url, address, connect) };
      return new Promise((resolve, reject) => {
        connect({ host, hostname, port, protocol, ...tunnel }, (error, socket) => {
          if (error === null) resolve(socket);
          else reject(error);
        });
      });
    },
    close() {
      for (const socket of opening) socket.destroy(new Error('the connection was cancelled'));
    },
  };
}

async function openTunnel(
  url: URL,
  proxy: URL,
  connect: buildConnector.connector,
): Promise<Socket> {
  const path = `${url.hostname}:${url.port === '' ? 443 : url.port}`;
  const headers = { host: path, ...proxyAuthorization(proxy) };
  const client = new Client(proxy.origin, {
    connect,
    headersTimeout: CONNECT_TIMEOUT_MS,
    maxHeaderSize: MOST_HEADER_BYTES,
  });
  try {
    return await new Promise<Socket>((resolve, reject) => {
      client.dispatch(
        { method: 'CONNECT', path, headers },
        {
          onRequestStart() {},
          onRequestUpgrade(_controller, status, _headers, socket) {
            if (status === 200 && socket instanceof Socket) {
              resolve(socket);
              return;
            }
            socket.on('error', () => {}).destroy();
            reject(new ProxyRefusal(status));
          },
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  } catch (error) {
    throw new TransportError('proxy', url.host, error, proxy.host);
  } finally {
    void client.close();
  }
}
