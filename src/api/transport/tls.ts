import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { Connector } from './connections.ts';
import { hostAndPort, PendingSockets } from './connections.ts';
import { ProxyRefusal, TransportError } from './exchange.ts';
import { proxyAddress, proxyAuthorization } from './proxy.ts';

/**
 * Creates a connector that adds TLS to the connections of another connector.
 * @param certificates certificates (PEM) to trust instead of the built-in ones
 */
export function secureConnector(
  url: URL,
  inner: Connector,
  certificates: string | undefined,
): Connector {
  const opening = new PendingSockets();
  const { host } = hostAndPort(url);
  const target = {
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    // Set explicitly, because an environment variable could turn verification off.
    rejectUnauthorized: true,
    ...(certificates === undefined ? {} : { ca: certificates }),
  };
  let session: Buffer | undefined;
  return {
    async open() {
      const socket = connect({ ...target, session, socket: await inner.open() });
      socket.on('session', (latest) => {
        session = latest;
      });
      return opening.ready(socket, 'secureConnect');
    },
    close() {
      inner.close();
      opening.close();
    },
  };
}

/**
 * Creates a connector that reaches the host of `url` through a proxy (`CONNECT`, RFC 9110) and adds TLS. The `open`
 * method of the connector has no timeout. It rejects with a {@link TransportError} if the proxy fails.
 * @param certificates certificates (PEM) to trust instead of the built-in ones
 * @throws Failure of kind `usage` for an invalid proxy URL
 */
export function tunnelConnector(
  url: URL,
  proxy: string,
  certificates: string | undefined,
): Connector {
  const address = proxyAddress(proxy);
  const pool = import('undici').then(
    ({ Pool }) =>
      new Pool(address.origin, {
        headersTimeout: 0,
        connect: { timeout: 0, rejectUnauthorized: true, ca: certificates },
      }),
  );
  const { host, port } = hostAndPort(url);
  const path = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const headers = { host: path, ...proxyAuthorization(address) };
  const open = async (): Promise<Duplex> => {
    try {
      const { socket, statusCode } = await (await pool).connect({ path, headers });
      if (statusCode === 200) return socket;
      socket.on('error', () => {}).destroy();
      throw new ProxyRefusal(statusCode);
    } catch (error) {
      throw new TransportError('proxy', url.host, error, address.host);
    }
  };
  const close = (): void => void pool.then((opened) => opened.destroy());
  return secureConnector(url, { open, close }, certificates);
}
