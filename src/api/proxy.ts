import { isLoopback } from './service-address.ts';

/** The environment variables that name a proxy, in either case. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL (`HTTPS_PROXY`, else `HTTP_PROXY`, unless `NO_PROXY` names the host); never
 * one for this computer. A name in lower case goes first, as everywhere.
 */
export function proxyFor(url: URL, env: ProxyEnvironment): string | undefined {
  if (isLoopback(url) || isExcluded(url, read(env, 'no_proxy') ?? '')) return undefined;
  const https = url.protocol === 'https:' ? read(env, 'https_proxy') : undefined;
  const proxy = https ?? read(env, 'http_proxy');
  if (proxy === undefined) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function read(env: ProxyEnvironment, name: string): string | undefined {
  const given = [env[name], env[name.toUpperCase()]];
  return given.find((value) => value !== undefined && value !== '');
}

/** Entries are host names, which also stand for what is below them, with or without a port, or `*`. */
function isExcluded(url: URL, list: string): boolean {
  const port = url.port === '' ? defaultPort(url) : url.port;
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, host = '', entryPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (entryPort !== undefined && entryPort !== port) return false;
      const suffix = host.replace(/^\*?\./, '');
      return url.hostname === suffix || url.hostname.endsWith(`.${suffix}`);
    });
}

function defaultPort(url: URL): string {
  return url.protocol === 'https:' ? '443' : '80';
}
