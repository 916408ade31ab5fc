import { isPlainOverNetwork } from './service-address.ts';
import type { WireRequest } from './request.ts';

const MOST_REDIRECTS = 5;
/** What a request may carry to a stranger. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'if-range', 'range', 'user-agent']);

/** What is to be done with an answer that points elsewhere. */
export type RedirectStep =
  | { readonly kind: 'follow'; readonly request: WireRequest }
  | { readonly kind: 'refuse'; readonly why: string };

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/**
 * Where a redirect leads (contract, section 1): a read follows up to five, with its key as long as
 * the origin stays the same and with nothing of ours once it does not, and never from https to http.
 * A write is never sent to another origin, nor turned into a read.
 */
export function redirectStep(
  request: WireRequest,
  answer: { readonly status: number; readonly location: string | undefined },
  followed: number,
): RedirectStep {
  const { location, status } = answer;
  if (location === undefined || !URL.canParse(location, request.url.href)) {
    return refuse('it redirects to nowhere');
  }
  const url = new URL(location, request.url);
  url.username = '';
  url.password = '';
  url.hash = '';
  const away = url.origin !== request.url.origin;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse(`it redirects to a ${url.protocol} address`);
  }
  if (request.url.protocol === 'https:' && url.protocol === 'http:') {
    return refuse(`it redirects from https to ${url.origin}`);
  }
  if (isPlainOverNetwork(url)) return refuse(`it redirects to ${url.origin}, without encryption`);
  if (followed >= MOST_REDIRECTS) return refuse(`it redirects more than ${MOST_REDIRECTS} times`);
  if (isRead(request.method)) return follow(request, url, away);
  if (away) return refuse(`it redirects a ${request.method} to ${url.origin}`);
  if (status !== 307 && status !== 308) return refuse(`it redirects a ${request.method}`);
  return follow(request, url, away);
}

function follow(request: WireRequest, url: URL, away: boolean): RedirectStep {
  const headers = away
    ? Object.fromEntries(Object.entries(request.headers).filter(([name]) => HARMLESS.has(name)))
    : request.headers;
  return { kind: 'follow', request: { ...request, url, headers } };
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function refuse(why: string): RedirectStep {
  return { kind: 'refuse', why };
}
