import { setFlagsFromString } from 'node:v8';
import apiConnect from 'undici/lib/api/api-connect.js';
import connectorOf from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import type { Connector } from './connections.ts';
import { endOf } from './connections.ts';
import { ProxyRefusal, TransportError } from './exchange.ts';
import { proxyAddress, proxyAuthorization } from './proxy.ts';

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

/**
 * Node 20 optimizes undici's WebAssembly parser on a background thread and waits for it at exit:
 * 70 to 95 ms after the last byte. A budget that is never used up prevents that. It belongs to the
 * module that is compiled while it is set, so that it is put back at once and speech engines in the
 * same process are compiled as ever. Later Nodes do not have the problem.
 */
const NEVER = '--wasm-tiering-budget=1000000000';
const DEFAULT_OF_NODE_20 = '--wasm-tiering-budget=1800000';
const isNode20 = process.versions.node.startsWith('20.');

/** Runs `compile`; WebAssembly modules that it compiles are not optimized in the background. */
export function withoutTierUp(compile: () => void): void {
  if (!isNode20) return compile();
  setFlagsFromString(NEVER);
  try {
    compile();
  } finally {
    setFlagsFromString(DEFAULT_OF_NODE_20);
  }
}
