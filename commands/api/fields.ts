import { usageFailure } from '../../src/errors/failure.ts';

/** A value of `-F` or `-f` as it stands on the command line. */
export type GivenValue =
  /** Becomes what it looks like: true, false, null, a number, else a string. */
  | { readonly kind: 'typed'; readonly text: string }
  /** Stays a string. */
  | { readonly kind: 'raw'; readonly text: string }
  /** The content of a file; `-` is stdin. */
  | { readonly kind: 'file'; readonly path: string };

export interface Field {
  /** The flag as it was written, for messages. */
  readonly given: string;
  /** Everything before the first `=`. */
  readonly name: string;
  /** The names in it, from the outside; an empty one appends to a list. */
  readonly path: readonly [string, ...string[]];
  /** Absent for `key[]` alone, which is an empty list. */
  readonly value: GivenValue | undefined;
}

/**
 * Reads a value of `-F` (`typed`) or `-f`: `key=value`, `key[sub]=value`, `key[]=value`, or `key[]`.
 * @throws Failure (usage)
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

/** What a typed value becomes; numbers as JSON writes them, and only those that stay exact. */
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
      `${shown}=@ names no file`,
      `A value that begins with @ is sent with -f: ${shown.replace('-F', '-f')}=@…`,
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

/** The headers of `-H`; those that the client has a place for are apart. */
export interface GivenHeaders {
  readonly requestId: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly accept: string | undefined;
  readonly contentType: string | undefined;
  /** The rest, by lower-case name; several values of one name are joined, as HTTP has it. */
  readonly others: Readonly<Record<string, string>>;
}
