import { checkHeader } from '../../src/api/request.ts';
import type { RequestSpec } from '../../src/api/request.ts';
import { chargeOf } from '../../src/contract/endpoint-lookup.ts';
import { ENDPOINTS } from '../../src/contract/generated/endpoints.ts';
import { HEADERS } from '../../src/contract/values.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { closest } from '../../src/text/did-you-mean.ts';

export interface ApiFlags {
  readonly field?: readonly Field[];
  readonly rawField?: readonly Field[];
  readonly body?: string;
  readonly header?: readonly string[];
  readonly form?: true;
  readonly include?: true;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
// For these methods, the fields of `-F` and `-f` become the query string.
const READS = new Set(['GET', 'HEAD']);

/**
 * Checks the arguments and flags of `foley api` without reading any file.
 * @throws Failure of kind `usage` for an invalid argument or flag
 */
export function planCall(args: readonly string[], flags: ApiFlags, keyFile?: string): PlannedCall {
  const [methodWord = '', pathWord] = args;
  if (pathWord === undefined) throw missing(methodWord);
  const method = methodOf(methodWord);
  const target = targetOf(pathWord);
  const fields = [...(flags.rawField ?? []), ...(flags.field ?? [])];
  refuseContradictions(method, fields, flags);
  refuseSecondStdin(fields, flags.body, keyFile);
  const headers = parseHeaders(flags.header ?? []);
  if (flags.form === true && headers.contentType !== undefined) {
    throw usageFailure('--form sets the Content-Type itself', 'Leave -H Content-Type out.');
  }
  const inBody = flags.form === true ? 'form' : 'json';
  return {
    method,
    path: target.split('?', 1)[0] ?? target,
    target,
    headers,
    fields,
    fieldsAs: READS.has(method) ? 'query' : inBody,
    body: flags.body,
    include: flags.include === true,
  };
}

/** Returns true if a call requests a public document, which needs no API key. */
export function isPublic(method: string, path: string): boolean {
  return ENDPOINTS.some(
    (endpoint) => 'public' in endpoint && endpoint.method === method && endpoint.path === path,
  );
}

/**
 * Returns true if requests with this path are sent to the realtime host (docs/api/realtime.md) instead of the base URL.
 */
export function isRealtime(path: string): boolean {
  return /^\/v[23]\/tts\//.test(path);
}

function missing(word: string): Error {
  const usage = 'It is: foley api METHOD PATH, such as `foley api GET /api/open/v1/profile`.';
  if (word.includes('/')) return usageFailure(`METHOD is missing before ${word}`, usage);
  return usageFailure(word === '' ? 'METHOD and PATH are missing' : 'PATH is missing', usage);
}

function methodOf(word: string): string {
  const method = METHODS.find((known) => known === word.toUpperCase());
  if (method !== undefined) return method;
  const [nearest] = closest(word, METHODS, 1);
  throw usageFailure(
    `METHOD is "${word}", which is not an HTTP method`,
    nearest === undefined ? `Use ${METHODS.join(', ')}.` : `Did you mean ${nearest}?`,
  );
}

function targetOf(word: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) {
    throw usageFailure(
      'PATH is a URL; the path of an endpoint begins with /, such as /api/open/v1/profile',
      'Select the service with --base-url or --account; a key is sent only to its own service.',
    );
  }
  if (/^[a-z]:[/\\]/i.test(word)) {
    throw usageFailure(
      `PATH is "${word}"; the path of an endpoint begins with /`,
      'Your shell may have rewritten the path: set MSYS_NO_PATHCONV=1.',
    );
  }
  if (!word.startsWith('/')) {
    throw usageFailure(
      `PATH is "${word}"; the path of an endpoint begins with /`,
      `Did you mean /${word}?`,
    );
  }
  if (/[\s#\\]|\p{Cc}/u.test(word)) {
    throw usageFailure(
      `PATH is "${word}"; it must not contain white space, # or \\`,
      'Write them percent-encoded: a space is %20, # is %23.',
    );
  }
  return word;
}

function refuseContradictions(method: string, fields: readonly Field[], flags: ApiFlags): void {
  const { body, form } = flags;
  const isRead = READS.has(method);
  if (body !== undefined && fields.length > 0) {
    throw usageFailure(
      '--body and fields (-F, -f) cannot be combined',
      'Put query parameters into PATH: /path?name=value.',
    );
  }
  if (body !== undefined && form === true) {
    throw usageFailure('--body and --form cannot be combined', 'Give the fields with -F.');
  }
  if (isRead && body !== undefined)
    throw usageFailure(`--body does not work with ${method}, which has no body`);
  if (isRead && form === true) {
    throw usageFailure(
      `--form does not work with ${method}, which has no body`,
      'Leave --form out: the fields become the query.',
    );
  }
  if (form === true && fields.length === 0) throw usageFailure('--form requires fields (-F)');
}

function refuseSecondStdin(
  fields: readonly Field[],
  body: string | undefined,
  keyFile: string | undefined,
): void {
  const users = [
    ...fields.filter(({ value }) => value?.kind === 'file' && value.path === '-'),
    ...[body, keyFile].filter((path) => path === '-'),
  ];
  if (users.length > 1) {
    throw usageFailure('stdin is used more than once', 'Use a file for all but one of them.');
  }
}

function parseHeaders(given: readonly string[]): GivenHeaders {
  const all = new Map<string, string>();
  for (const line of given) {
    const [name, value] = parseHeader(line);
    const known = all.get(name);
    all.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  const take = (name: string): string | undefined => {
    const value = all.get(name);
    all.delete(name);
    return value;
  };
  return {
    requestId: take(HEADERS.requestId.toLowerCase()),
    idempotencyKey: take(HEADERS.idempotencyKey.toLowerCase()),
    accept: take('accept'),
    contentType: take('content-type'),
    others: Object.fromEntries(all),
  };
}

function parseHeader(line: string): readonly [name: string, value: string] {
  const at = line.indexOf(':');
  if (at < 1) {
    // A value without a name may be a secret: do not print it.
    throw usageFailure('-H requires a header in the form name:value');
  }
  const name = line.slice(0, at).trim();
  if (name.toLowerCase() === 'authorization') {
    throw usageFailure(
      '-H cannot set the header Authorization',
      'Set the API key with FOLEY_API_KEY, --api-key-file PATH or a stored account (`foley auth login`).',
    );
  }
  return [name.toLowerCase(), checkHeader(name, line.slice(at + 1).trim())];
}

const LOOK_AT =
  'Check whether the request was processed before you send it again (`foley profile` shows the credits).';

/**
 * Returns whether a call is billed and how it may be retried. A `POST`, `PUT`, `PATCH` or `DELETE` call is retried only
 * if the user set the idempotency header of the endpoint.
 */
export function retryRules({
  headers: { idempotencyKey, requestId },
  method,
  path,
}: PlannedCall): Pick<RequestSpec, 'billed' | 'key' | 'lookAt' | 'retry'> {
  const { billed, idempotencyHeader } = chargeOf(method, path);
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') {
    return { billed, retry: 'safe', key: keyOf(idempotencyKey) };
  }
  const recognized = idempotencyHeader === 'Idempotency-Key' ? idempotencyKey : requestId;
  const isKeyed = idempotencyHeader !== undefined && recognized !== undefined;
  return {
    billed,
    retry: isKeyed ? 'keyed' : 'never',
    key: keyOf(idempotencyKey),
    lookAt: isKeyed ? repeatHint(idempotencyHeader) : LOOK_AT,
  };
}

function keyOf(value: string | undefined): RequestSpec['key'] {
  return value === undefined ? undefined : { value, madeByTool: false, sentAs: 'Idempotency-Key' };
}

function repeatHint(header: string): string {
  return `Repeat exactly the same request with the same ${header}: it is not billed twice.`;
}

/** The value of a `-F` or `-f` flag. If the value is a file, the file has not been read yet. */
export type GivenValue =
  /** Text from a `-F` flag. foley converts `true`, `false`, `null` and numbers to their JSON values. */
  | { readonly kind: 'typed'; readonly text: string }
  /** Text from a `-f` flag, always sent as a string. */
  | { readonly kind: 'raw'; readonly text: string }
  /** A file whose content is sent. The path `-` stands for stdin. */
  | { readonly kind: 'file'; readonly path: string };

export interface Field {
  /** The flag and the key as the user wrote them (`-F a[b]`), for error messages. */
  readonly given: string;
  /** The value of the `-F` or `-f` flag up to the first `=`, or the whole value if it has no `=`. */
  readonly name: string;
  /** The components of the key: `a[b]` becomes `['a', 'b']`. An empty component, as in `a[]`, appends to a list. */
  readonly path: readonly [string, ...string[]];
  /**
   * The value. It is undefined for an argument without `=`. Such an argument, for example `key[]`, sends an empty list.
   */
  readonly value: GivenValue | undefined;
}

/**
 * Parses the argument of a `-F` or `-f` flag. Accepts `key=value`, `key[sub]=value`, `key[]=value` and `key[]`.
 * @throws Failure of kind `usage` for an argument in another form
 */
export function parseField(flag: '-F' | '-f', given: string): Field {
  const at = given.indexOf('=');
  const name = at === -1 ? given : given.slice(0, at);
  const path = pathOf(name);
  if (path === undefined || (at === -1 && path.at(-1) !== '')) {
    throw usageFailure(
      `${flag} is "${given}"; it takes key=value`,
      'Keys may be nested: key[sub]=value, key[]=value.',
    );
  }
  const shown = `${flag} ${name}`;
  if (at === -1) return { given: shown, name, path, value: undefined };
  return { given: shown, name, path, value: valueOf(flag, given.slice(at + 1), shown) };
}

/**
 * Converts the text of a `-F` flag to its JSON value: `true`, `false`, `null` or a number (without an exponent, up to
 * 2^53 - 1). Returns any other text unchanged.
 */
export function typedValue(text: string): string | number | boolean | null {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  if (!/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return text;
  const value = Number(text);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : text;
}

function valueOf(flag: '-F' | '-f', text: string, shown: string): GivenValue {
  if (flag === '-f') return { kind: 'raw', text };
  if (!text.startsWith('@')) return { kind: 'typed', text };
  if (text === '@') {
    throw usageFailure(
      `${shown}=@ requires a file name after @`,
      `Send a value that begins with @ with -f: ${shown.replace('-F', '-f')}=@…`,
    );
  }
  return { kind: 'file', path: text.slice(1) };
}

function pathOf(name: string): [string, ...string[]] | undefined {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
  const [, first, rest = ''] = match ?? [];
  if (first === undefined) return undefined;
  return [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, inner = '']) => inner)];
}

/** The HTTP call that the arguments and flags of `foley api` describe. Its files have not been read yet. */
export interface PlannedCall {
  readonly method: string;
  /** The path of the request, without the query. */
  readonly path: string;
  /** The path of the request with its query, as the user wrote it. */
  readonly target: string;
  readonly headers: GivenHeaders;
  readonly fields: readonly Field[];
  readonly fieldsAs: 'query' | 'json' | 'form';
  /** Path of the file with the request body; `-` stands for stdin. */
  readonly body: string | undefined;
  readonly include: boolean;
}

/** The headers that the user set with `-H`. */
export interface GivenHeaders {
  readonly requestId: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly accept: string | undefined;
  readonly contentType: string | undefined;
  /** All headers that have no field in this interface, by lower-case name. Repeated headers are joined with a comma. */
  readonly others: Readonly<Record<string, string>>;
}
