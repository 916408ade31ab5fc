import { usageFailure } from '../../errors/failure.ts';
import { isLoopback } from '../request.ts';

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

/**
 * The address of a proxy, as the environment names it.
 * @throws Failure (usage) when it is none; user name and password are not told
 */
export function proxyAddress(proxy: string): URL {
  const address = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (address?.protocol === 'http:' || address?.protocol === 'https:') return address;
  throw usageFailure(
    'the proxy that the environment names is not an http or https address',
    'Set HTTPS_PROXY to a URL such as http://proxy.example:3128, or unset it.',
  );
}

/** The host and port of a proxy for messages, without its user name and password. */
export function proxyHost(proxy: string): string {
  return URL.canParse(proxy) ? new URL(proxy).host : 'that the environment names';
}

/** The header that carries the user name and password of a proxy's address, where it has any. */
export function proxyAuthorization({ password, username }: URL): {
  'proxy-authorization'?: string;
} {
  if (username === '' && password === '') return {};
  const plain = `${decoded(username)}:${decoded(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(plain).toString('base64')}` };
}

/** A percent sign that escapes nothing stands for itself, as passwords that were typed in have it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function read(env: ProxyEnvironment, name: string): string | undefined {
  const given = [env[name], env[name.toUpperCase()]];
  return given.find((value) => value !== undefined && value !== '');
}

/**
 * Entries are host names, which also stand for what is below them, with or without a port, or `*`;
 * IPv6 addresses with or without brackets.
 */
function isExcluded(url: URL, list: string): boolean {
  const port = url.port === '' ? defaultPort(url) : url.port;
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (`[${entry}]` === url.hostname) return true;
      const [, host = '', entryPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (entryPort !== undefined && entryPort !== port) return false;
      const suffix = host.replace(/^\*?\./, '');
      return url.hostname === suffix || url.hostname.endsWith(`.${suffix}`);
    });
}

function defaultPort(url: URL): string {
  return url.protocol === 'https:' ? '443' : '80';
}
