import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import type { PageOrigin as VisitingPage } from '../http/guard.ts';
import { readJsonBody } from '../http/router.ts';
import type { IncomingRequest } from '../http/guard.ts';
import type { Router } from '../http/router.ts';
import type { AccountKey } from '../running-service.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { integer, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';

interface PageDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly key: AccountKey;
  readonly route: Router;
}

const PREFIX = '/page/';
const API_PREFIX = '/page/api';
const READABLE = [
  /^\/api\/open\/v1\/profile$/,
  /^\/api\/open\/v3\/voices$/,
  /^\/api\/open\/v3\/speech\/tts\/capabilities$/,
  /^\/api\/open\/v3\/speech\/tts\/jobs(?:\/[\w-]+(?:\/audio)?)?$/,
];
const SPEAKABLE = /^\/api\/open\/v3\/speech\/tts(?:\/aligned)?$/;

/**
 * Creates the web page at `/`. The browser gets no API key: it exchanges a one-time link for a session cookie
 * (`HttpOnly`), and the service adds the account's API key to the requests of the page.
 */
export function createPage({ clock, key, random, route, store }: PageDeps) {
  const visits = createVisits({ clock, random });
  const { account } = key;
  const answerOwn = async ({ request }: IncomingRequest): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (request.method === 'POST' && pathname === '/page/session') {
      return beginSession(request, (invitation) => visits.begin(invitation));
    }
    visits.require(sessionOf(request));
    if (request.method === 'GET' && pathname === '/page/ledger') {
      return Response.json(latestEntries(store, account));
    }
    throw new ServiceError('ERR_NOT_FOUND', 'The page has no such path');
  };
  return {
    has: (path: string): boolean => path === '/' || path.startsWith(PREFIX),
    /** Returns whether the service's own web page sent a request. */
    isOwn: ({ host, origin }: VisitingPage): boolean => origin === `http://${host}`,
    /** Returns the secret fragment of a one-time link to the page. */
    invite: (): string => visits.invite(),
    /** Responds to a request for the web page, or to an API request that the web page sent. @throws ServiceError */
    answer: async (arrival: IncomingRequest): Promise<Response> => {
      const { request } = arrival;
      const { pathname } = new URL(request.url);
      const file = request.method === 'GET' ? await pageFile(pathname) : undefined;
      if (file !== undefined) return file;
      const call = apiCall(request);
      if (call === undefined) return answerOwn(arrival);
      visits.require(sessionOf(request));
      return route({ ...arrival, request: withKey(request, call, key.key) });
    },
  };
}

// Returns the URL of the API request; undefined if the web page is not allowed to send it.
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
    throw new ServiceError('ERR_UNAUTHORIZED', 'This link is invalid or was used before');
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

// Contains the port, because browsers share cookies among the ports of a host.
function cookieName({ url }: Request): string {
  return `foley-page-${new URL(url).port || '80'}`;
}

const SESSION_MS = 12 * 60 * 60 * 1000;
const SECRET_BYTES = 24;
const MOST_SESSIONS = 100;

// One-time links and sessions are kept in memory only, as hashes.
function createVisits({ clock, random }: { clock: Clock; random: Random }) {
  const invitations = new Set<string>();
  // Expiry on the monotonic clock by the hash of the session id: the system time may be set back.
  const sessions = new Map<string, number>();
  const secret = (): string => Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
  const dropOld = (): void => {
    for (const [digest, endsAt] of sessions) {
      if (endsAt > clock.monotonic() && sessions.size <= MOST_SESSIONS) return;
      sessions.delete(digest);
    }
  };
  return {
    invite(): string {
      const invitation = secret();
      invitations.add(digestOf(invitation));
      return invitation;
    },
    // Undefined if the fragment of the one-time link is invalid or already used.
    begin(invitation: string): string | undefined {
      if (!invitations.delete(digestOf(invitation))) return undefined;
      const session = secret();
      sessions.set(digestOf(session), clock.monotonic() + SESSION_MS);
      dropOld();
      return session;
    },
    require(session: string): void {
      dropOld();
      if (sessions.has(digestOf(session))) return;
      throw new ServiceError(
        'ERR_UNAUTHORIZED',
        'The session is missing or has expired: open the link that `foley serve` printed',
      );
    },
  };
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

const ENTRIES = 100;

/** Returns the latest changes of an account's credits, newest first, and whether there are older ones. */
function latestEntries(store: Store, account: string) {
  const rows = store.read((db) =>
    db.all(
      `SELECT ledger_transaction.kind AS kind, ledger_transaction.created_at AS created_at,
        COALESCE(SUM(CASE WHEN book = 'available' THEN amount END), 0) AS available,
        COALESCE(SUM(CASE WHEN book = 'spent' THEN amount END), 0) AS spent
      FROM ledger_transaction JOIN ledger_entry ON transaction_id = ledger_transaction.id
      WHERE account_id = ? AND unit = 'credits'
      GROUP BY ledger_transaction.id ORDER BY ledger_transaction.id DESC LIMIT ${ENTRIES + 1}`,
      [account],
    ),
  );
  const items = rows.slice(0, ENTRIES).map((row) => ({
    kind: text(row, 'kind'),
    at: integer(row, 'created_at'),
    available: integer(row, 'available'),
    spent: integer(row, 'spent'),
  }));
  return { items, hasMore: rows.length > ENTRIES };
}

const STYLE = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

const FILES = new Map<string, readonly [string, string]>([
  ['/', ['assets/page/index.html', 'text/html; charset=utf-8']],
  ['/page/palette.css', ['assets/palette.css', STYLE]],
  ['/page/style.css', ['assets/page/style.css', STYLE]],
  ['/page/app.js', ['assets/page/app.js', SCRIPT]],
  ['/page/player.js', ['assets/page/player.js', SCRIPT]],
  ['/page/speech.js', ['assets/page/speech.js', SCRIPT]],
]);

// The files contain no secrets, so no session is required.
async function pageFile(path: string): Promise<Response | undefined> {
  const [file, type] = FILES.get(path) ?? [];
  if (file === undefined || type === undefined) return undefined;
  // `src/service/page/` is one folder deeper than the build output `dist/chunks/`.
  const content = await readFile(new URL(`../../${file}`, import.meta.url));
  return new Response(content, {
    headers: { 'Content-Type': type, 'Content-Security-Policy': POLICY },
  });
}

// Allows resources of this origin only, and no embedding.
const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `connect-src 'self'`,
  `media-src 'self' blob:`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');
