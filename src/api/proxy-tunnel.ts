import apiConnect from 'undici/lib/api/api-connect.js';
import connectorOf from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import type { Connector } from './connector.ts';
import { endOf } from './connector.ts';
import { proxyAddress, proxyAuthorization } from './proxy.ts';
import { ProxyRefusal, TransportError } from './transport-error.ts';
import { withoutTierUp } from './wasm-tiering.ts';

export interface TunnelOptions {
  readonly connectTimeoutMs: number;
  /** Certificates (PEM) to trust instead of the built-in ones. */
  readonly certificates?: string | undefined;
}

/**
 * Connections through a proxy (`CONNECT`): the proxy sees host and port and nothing of a request,
 * since only encrypted addresses are ever called beyond this computer.
 * `open` rejects with a {@link TransportError} for what the proxy does.
 * @throws Failure (usage) when the proxy's address is none; user name and password are not told
 */
export function tunnelConnector(url: URL, proxy: string, options: TunnelOptions): Connector {
  const address = proxyAddress(proxy);
  const pool = proxyConnections(address, options);
  const { host, port } = endOf(url);
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const headers = { host: target, ...proxyAuthorization(address) };
  return {
    async open() {
      try {
        const { socket, statusCode } = await pool.connect({ path: target, headers });
        if (statusCode === 200) return socket;
        socket.on('error', () => {}).destroy();
        throw new ProxyRefusal(statusCode);
      } catch (error) {
        throw new TransportError('proxy', url.host, error, address.host);
      }
    },
    close: () => void pool.destroy(),
  };
}

function proxyConnections(
  { origin }: URL,
  { certificates, connectTimeoutMs }: TunnelOptions,
): InstanceType<typeof Pool> {
  const connect = connectorOf({
    timeout: connectTimeoutMs,
    rejectUnauthorized: true,
    ...(certificates === undefined ? {} : { ca: certificates }),
  });
  const pool = new Pool(origin, {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (target, callback) => {
      connect(target, (...outcome) => withoutTierUp(() => callback(...outcome)));
    },
  });
  // Only the whole of undici gives its dispatchers this method.
  pool.connect = apiConnect;
  return pool;
}
