import { usageFailure } from '../../errors/failure.ts';
import { isLoopback } from '../request.ts';

/** Environment variables. Only the proxy variables are read, in upper or lower case. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the URL of the proxy for requests to `url`. An https URL uses the proxy in `HTTPS_PROXY`. If that variable
 * is unset, and for http URLs, the proxy is in `HTTP_PROXY`. Lower-case variable names take precedence. Returns
 * undefined if no proxy is set, `NO_PROXY` lists the host, or the host is this computer.
 */
export function proxyFor(url: URL, env: ProxyEnvironment): string | undefined {
  if (isLoopback(url) || isExcluded(url, read(env, 'no_proxy') ?? '')) return undefined;
  const https = url.protocol === 'https:' ? read(env, 'https_proxy') : undefined;
  const proxy = https ?? read(env, 'http_proxy');
  if (proxy === undefined) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/**
 * Parses the URL of a proxy.
 * @throws Failure of kind `usage` for an invalid URL. The message does not contain the password.
 */
export function proxyAddress(proxy: string): URL {
  const address = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (address?.protocol === 'http:' || address?.protocol === 'https:') return address;
  throw usageFailure(
    'HTTPS_PROXY or HTTP_PROXY is not an http or https URL',
    'Set it to a URL such as http://proxy.example:3128, or unset it.',
  );
}

/** Returns host and port of a proxy for messages, without user name and password. */
export function proxyHost(proxy: string): string {
  return URL.canParse(proxy) ? new URL(proxy).host : 'that the environment names';
}

/** Returns the `Proxy-Authorization` header for the user name and password in a proxy URL. */
export function proxyAuthorization({ password, username }: URL): {
  'proxy-authorization'?: string;
} {
  if (username === '' && password === '') return {};
  const plain = `${decoded(username)}:${decoded(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(plain).toString('base64')}` };
}

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

// `NO_PROXY` contains `*`, or host names or parent domains, each with an optional port.
function isExcluded(url: URL, list: string): boolean {
  const usual = url.protocol === 'https:' ? '443' : '80';
  const port = url.port === '' ? usual : url.port;
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
