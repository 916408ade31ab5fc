import type { Dispatcher } from 'undici';
import apiConnect from 'undici/lib/api/api-connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import { usageFailure } from '../errors/failure.ts';
import type { TransportOptions } from './http-transport.ts';
import { withoutTierUp } from './wasm-tiering.ts';

/**
 * Connections through a proxy (`CONNECT`): the proxy sees host and port and nothing of a request,
 * since only encrypted addresses are ever called beyond this computer.
 * @throws Failure (usage) when the proxy's address is none; user name and password are not told
 */
export function createTunnel(proxy: string, options: TransportOptions): Dispatcher {
  if (!URL.canParse(proxy) || !/^https?:/.test(proxy)) {
    throw usageFailure(
      'the proxy that the environment names is not an http or https address',
      'Set HTTPS_PROXY to a URL such as http://proxy.example:3128, or unset it.',
    );
  }
  const tls = {
    rejectUnauthorized: true,
    timeout: options.connectTimeoutMs,
    ...(options.certificates === undefined ? {} : { ca: options.certificates }),
  };
  return new ProxyAgent({
    uri: proxy,
    requestTls: tls,
    proxyTls: tls,
    headersTimeout: 0,
    bodyTimeout: 0,
    clientFactory: (origin, settings) => proxyConnections(origin, settings),
  });
}

function proxyConnections(origin: URL, settings: object): Dispatcher {
  const connect = 'connect' in settings ? settings.connect : undefined;
  if (typeof connect !== 'function') throw new TypeError('undici gives no way to connect');
  const pool = new Pool(origin, {
    ...settings,
    connect: (target, callback) => {
      connect(target, (...outcome: Parameters<typeof callback>) => {
        withoutTierUp(() => callback(...outcome));
      });
    },
  });
  // Only the whole of undici gives its dispatchers this method.
  pool.connect = apiConnect;
  return pool;
}
