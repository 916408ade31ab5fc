import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import { readJsonBody } from '../http/json-body.ts';
import type { Page as VisitingPage } from '../http/guard.ts';
import type { Arrival, Router } from '../http/router.ts';
import type { AccountKey } from '../running-service.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { latestEntries } from './latest-entries.ts';
import { pageFile } from './page-files.ts';
import { createVisits, SESSION_MS } from './visits.ts';

/**
 * The page at `/` on which a person looks at the service. It holds no key: a link that is good once is
 * exchanged for a session in a cookie that no script can read, and what the page asks of the API goes
 * through here, where the key of its account is added.
 */
export interface ServicePage {
  /** Whether a path belongs to the page. */
  has(path: string): boolean;
  /** Whether a page of that origin is this one. */
  isOwn(page: VisitingPage): boolean;
  /** @throws ServiceError */
  answer(arrival: Arrival): Promise<Response>;
  /** What the address of the page ends in for somebody who may see it: good once. */
  invite(): string;
}

export interface PageDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** The account that the page is of. */
  readonly key: AccountKey;
  readonly route: Router;
  readonly context: Pick<ServiceContext, 'store'>;
}

const PREFIX = '/page/';
/** What the page may ask of the API, behind this. */
const API_PREFIX = '/page/api';
const READABLE = [
  /^\/api\/open\/v1\/profile$/,
  /^\/api\/open\/v3\/voices$/,
  /^\/api\/open\/v3\/speech\/tts\/capabilities$/,
  /^\/api\/open\/v3\/speech\/tts\/jobs(?:\/[\w-]+(?:\/audio)?)?$/,
];
const SPEAKABLE = /^\/api\/open\/v3\/speech\/tts(?:\/aligned)?$/;

export function createPage({ clock, context, key, random, route }: PageDeps): ServicePage {
  const visits = createVisits({ clock, random });
  const { account } = key;
  const asked = async ({ request }: Arrival): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (request.method === 'POST' && pathname === '/page/session') {
      return beginSession(request, (invitation) => visits.begin(invitation));
    }
    if (visits.accountOf(sessionOf(request)) !== account) throw noSession();
    if (request.method === 'GET' && pathname === '/page/ledger') {
      return Response.json({ items: latestEntries(context.store, account) });
    }
    throw new ServiceError('ERR_NOT_FOUND', 'The page has nothing there');
  };
  return {
    has: (path) => path === '/' || path.startsWith(PREFIX),
    isOwn: ({ host, origin }) => origin === `http://${host}`,
    invite: () => visits.invite(account),
    async answer(arrival) {
      const { request } = arrival;
      const { pathname } = new URL(request.url);
      const file = request.method === 'GET' ? await pageFile(pathname) : undefined;
      if (file !== undefined) return file;
      const call = apiCall(request);
      if (call === undefined) return asked(arrival);
      if (visits.accountOf(sessionOf(request)) !== account) throw noSession();
      return route({ ...arrival, request: withKey(request, call, key.key) });
    },
  };
}

/** Where a request for the API goes; `undefined` when it is none that the page may make. */
function apiCall({ method, url }: Request): string | undefined {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.startsWith(API_PREFIX) ? pathname.slice(API_PREFIX.length) : undefined;
  if (path === undefined) return undefined;
  const isAllowed =
    method === 'POST' ? SPEAKABLE.test(path) : READABLE.some((allowed) => allowed.test(path));
  return isAllowed && ['GET', 'HEAD', 'POST'].includes(method)
    ? `${origin}${path}${search}`
    : undefined;
}

function withKey({ body, headers, method, signal }: Request, url: string, key: string): Request {
  const passed = ['Content-Type', 'Range', 'If-Range'].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return new Request(url, {
    method,
    signal,
    body,
    ...(body === null ? {} : { duplex: 'half' }),
    headers: Object.fromEntries([...passed, ['Authorization', `Bearer ${key}`]]),
  });
}

async function beginSession(
  request: Request,
  begin: (invitation: string) => string | undefined,
): Promise<Response> {
  const { link } = Object(await readJsonBody(request));
  if (typeof link !== 'string')
    throw invalidRequest([{ field: 'link', message: 'link is missing' }]);
  const session = begin(link);
  if (session === undefined) {
    throw new ServiceError('ERR_UNAUTHORIZED', 'This link is not good, or was used before');
  }
  const cookie = [
    `${cookieName(request)}=${session}`,
    'HttpOnly',
    'SameSite=Strict',
    'Path=/page',
    `Max-Age=${SESSION_MS / 1000}`,
  ].join('; ');
  return new Response(null, { status: 204, headers: { 'Set-Cookie': cookie } });
}

function sessionOf(request: Request): string {
  const wanted = `${cookieName(request)}=`;
  const cookies = (request.headers.get('Cookie') ?? '').split('; ');
  return cookies.find((cookie) => cookie.startsWith(wanted))?.slice(wanted.length) ?? '';
}

/** Browsers share cookies among the ports of a host. */
function cookieName({ url }: Request): string {
  return `foley-page-${new URL(url).port || '80'}`;
}

function noSession(): ServiceError {
  return new ServiceError('ERR_UNAUTHORIZED', 'Open the link that `foley serve` printed');
}
