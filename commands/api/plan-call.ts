import { ENDPOINTS } from '../../src/contract/endpoints.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { closest } from '../../src/text/did-you-mean.ts';
import type { Field } from './fields.ts';
import type { GivenHeaders } from './headers.ts';
import { parseHeaders } from './headers.ts';

export interface ApiFlags {
  readonly field?: readonly Field[];
  readonly rawField?: readonly Field[];
  readonly body?: string;
  readonly header?: readonly string[];
  readonly form?: true;
  readonly include?: true;
}

/** A call that can be made: everything about it was checked, nothing was read yet. */
export interface Call {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** With the query that it was given. */
  readonly target: string;
  readonly headers: GivenHeaders;
  readonly fields: readonly Field[];
  /** Where the fields go. */
  readonly fieldsAs: 'query' | 'json' | 'form';
  /** A file to be sent as it is; `-` is stdin. */
  readonly body: string | undefined;
  readonly include: boolean;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
/** Methods whose fields are a query, since they have no body. */
const READS = new Set(['GET', 'HEAD']);

/**
 * Checks the words and flags of `foley api`.
 * @throws Failure (usage)
 */
export function planCall(args: readonly string[], flags: ApiFlags, keyFile?: string): Call {
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

/** Whether it asks for one of the documents that need no key. */
export function isPublic({ method, path }: Pick<Call, 'method' | 'path'>): boolean {
  return ENDPOINTS.some(
    (endpoint) => endpoint.public && endpoint.method === method && endpoint.path === path,
  );
}

/** The realtime host's own HTTP paths (spec section 4.10); everything else is below the base URL. */
export function isRealtime({ path }: Pick<Call, 'path'>): boolean {
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
    `"${word}" is not a method`,
    nearest === undefined ? `The methods are ${METHODS.join(', ')}.` : `Did you mean ${nearest}?`,
  );
}

function targetOf(word: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) {
    throw usageFailure(
      'PATH is a URL; it takes a path that begins with /, such as /api/open/v1/profile',
      'The service is chosen with --base-url or an account, so that a key goes to no other.',
    );
  }
  if (/^[a-z]:[/\\]/i.test(word)) {
    throw usageFailure(
      `PATH is "${word}"; it takes a path that begins with /`,
      'Your shell may have rewritten it: set MSYS_NO_PATHCONV=1.',
    );
  }
  if (!word.startsWith('/')) {
    throw usageFailure(
      `PATH is "${word}"; it takes a path that begins with /`,
      `Did you mean /${word}?`,
    );
  }
  if (/[\s#\\]|\p{Cc}/u.test(word)) {
    throw usageFailure(
      `PATH is "${word}"; white space, # and \\ cannot be in it`,
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
      '--body and fields (-F, -f) are both a body',
      'Put query parameters into PATH: /path?name=value.',
    );
  }
  if (body !== undefined && form === true) {
    throw usageFailure('--body and --form are both a body', 'Give the fields with -F.');
  }
  if (isRead && body !== undefined)
    throw usageFailure(`a ${method} has no body; --body has no use`);
  if (isRead && form === true) {
    throw usageFailure(`a ${method} has no body; --form has no use`, 'Its fields become a query.');
  }
  if (form === true && fields.length === 0) throw usageFailure('--form needs fields (-F)');
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
    throw usageFailure('stdin is asked for more than once', 'Use a file for all but one of them.');
  }
}
