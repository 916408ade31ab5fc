import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { Page as VisitingPage } from '../http/guard.ts';
import { readJsonBody } from '../http/router.ts';
import type { Arrival } from '../http/guard.ts';
import type { Router } from '../http/router.ts';
import type { AccountKey } from '../running-service.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { integer, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';

/**
 * The web page at `/`. It holds no key: a one-time link becomes a session in an `HttpOnly` cookie, and
 * the page's API requests pass through here, where the key of its account is added.
 */
interface ServicePage {
  /** Whether a path belongs to the page. */
  has(path: string): boolean;
  /** Whether the origin is that of this page. */
  isOwn(page: VisitingPage): boolean;
  /** @throws ServiceError */
  readonly answer: (arrival: Arrival) => Promise<Response>;
  /** Returns a one-time fragment for the address of the page. */
  invite(): string;
}

interface PageDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** The account that the page shows. */
  readonly key: AccountKey;
  readonly route: Router;
  readonly context: Pick<ServiceContext, 'store'>;
}

const PREFIX = '/page/';
/** Prefix of the page's API requests. */
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

/** Returns the API address of a page request; `undefined` if the page may not make it. */
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

/** One-time links to the page, and the sessions of the browsers that used them. */
interface Visits {
  /** Returns the fragment of a one-time link. */
  invite(account: string): string;
  /** Exchanges a fragment for a session; `undefined` if it is invalid or used. */
  begin(invitation: string): string | undefined;
  /** Returns the account of a session. */
  accountOf(session: string): string | undefined;
}

/** A working day. */
const SESSION_MS = 12 * 60 * 60 * 1000;
const SECRET_BYTES = 24;
const MOST_SESSIONS = 100;

/** Keeps links and sessions in memory, as digests. */
function createVisits({ clock, random }: { clock: Clock; random: Random }): Visits {
  const invitations = new Map<string, string>();
  const sessions = new Map<string, { readonly account: string; readonly endsAt: number }>();
  const secret = (): string => Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
  const forgetOld = (): void => {
    for (const [digest, { endsAt }] of sessions) {
      if (endsAt > clock.now() && sessions.size <= MOST_SESSIONS) return;
      sessions.delete(digest);
    }
  };
  return {
    invite(account) {
      const invitation = secret();
      invitations.set(digestOf(invitation), account);
      return invitation;
    },
    begin(invitation) {
      const digest = digestOf(invitation);
      const account = invitations.get(digest);
      if (account === undefined) return undefined;
      invitations.delete(digest);
      const session = secret();
      sessions.set(digestOf(session), { account, endsAt: clock.now() + SESSION_MS });
      forgetOld();
      return session;
    },
    accountOf(session) {
      forgetOld();
      return sessions.get(digestOf(session))?.account;
    },
  };
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** A credit transaction of an account. */
interface LedgerEntry {
  readonly kind: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Changes of the available and spent credits. */
  readonly available: number;
  readonly spent: number;
}

const ENTRIES = 100;

/** Returns the latest credit transactions of an account, newest first. */
function latestEntries(store: Store, account: string): LedgerEntry[] {
  const rows = store.read((db) =>
    db.all(
      `SELECT ledger_transaction.kind AS kind, ledger_transaction.created_at AS created_at,
        COALESCE(SUM(CASE WHEN book = 'available' THEN amount END), 0) AS available,
        COALESCE(SUM(CASE WHEN book = 'spent' THEN amount END), 0) AS spent
      FROM ledger_transaction JOIN ledger_entry ON transaction_id = ledger_transaction.id
      WHERE account_id = ? AND unit = 'credits'
      GROUP BY ledger_transaction.id ORDER BY ledger_transaction.id DESC LIMIT ${ENTRIES}`,
      [account],
    ),
  );
  return rows.map((row) => ({
    kind: text(row, 'kind'),
    at: integer(row, 'created_at'),
    available: integer(row, 'available'),
    spent: integer(row, 'spent'),
  }));
}

interface PageFile {
  readonly file: string;
  readonly type: string;
}

const STYLE = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

const FILES: ReadonlyMap<string, PageFile> = new Map([
  ['/', { file: 'assets/page/index.html', type: 'text/html; charset=utf-8' }],
  ['/page/palette.css', { file: 'assets/palette.css', type: STYLE }],
  ['/page/style.css', { file: 'assets/page/style.css', type: STYLE }],
  ['/page/app.js', { file: 'assets/page/app.js', type: SCRIPT }],
  ['/page/player.js', { file: 'assets/page/player.js', type: SCRIPT }],
  ['/page/speech.js', { file: 'assets/page/speech.js', type: SCRIPT }],
]);

/** Returns a file of the page by the path of the request, or `undefined`. The files hold no secrets. */
async function pageFile(path: string): Promise<Response | undefined> {
  const found = FILES.get(path);
  if (found === undefined) return undefined;
  // Sources (`src/service/page/`) are one folder deeper than chunks (`dist/chunks/`).
  const content = await readFile(new URL(`../../${found.file}`, import.meta.url));
  return new Response(content, {
    headers: { 'Content-Type': found.type, 'Content-Security-Policy': POLICY },
  });
}

/** Allows resources of this origin only, and no embedding. */
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
